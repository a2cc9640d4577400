"""From the bytes of a file to text: byte order marks, encodings by name, and windows-1252 where UTF-8 fails.

A file that is not UTF-8 is most often windows-1252, what Western European and American spreadsheets write. That is
decided line by line, so nothing has to be read twice, and only where the bytes look the part.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from treetop.data.tally import Tally
from treetop.errors import ConfigError, DataError

__all__ = ["check_encoding", "decode", "transcoder"]

Transcoder: TypeAlias = Callable[[bytes, bool], bytes]

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OF_HOST_NAMES = ("idna", "punycode")  # what they make of a text depends on the Python version
_FOREIGN = re.compile(rb"[\xc0-\xff]{4}")  # four accented letters in a row: Cyrillic, Greek, Chinese, …


def check_encoding(name: str | None) -> None:
    """Refuse what is no encoding of text."""
    try:
        if codecs.lookup(name or "utf-8").name in _OF_HOST_NAMES:
            raise LookupError(name)
        b"    ".decode(name or "utf-8", "replace")  # what turns bytes into bytes is refused here
    except (LookupError, ValueError):  # those that refuse the sample are not encodings of texts either
        hint = "such as utf-8, cp1252, utf-16, cp1251, shift_jis or gb18030"
        raise ConfigError(f"there is no encoding called {name!r}; give one that Python knows, {hint}") from None


def transcoder(start: bytes, tally: Tally, path: Path | str) -> Transcoder | None:
    """What turns the blocks of a file into UTF-8; None if they are to be taken as they are.

    `start` is the first block: a byte order mark of UTF-16 or UTF-32 counts unless the encoding was named.
    """
    tally.encoding = tally.encoding or next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if tally.encoding is None:
        return None
    encoding = tally.encoding
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1

    def transcode(block: bytes, final: bool = False) -> bytes:
        nonlocal line
        try:
            text = decoder.decode(block, final)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            byte = f"byte 0x{error.object[error.start]:02x}"
            raise DataError(f"{byte} is not {encoding}; name another encoding", path=path, line=line) from None
        line += text.count("\n")
        return text.encode("utf-8", "replace")

    return transcode


def decode(line: bytes, path: Path | str, number: int, tally: Tally | None = None) -> str:
    """The line as text: UTF-8, else windows-1252 if it looks like that; `tally` counts such lines."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        return _decode_otherwise(line, DataError(_unreadable(line, error), path=path, line=number), tally)


def _decode_otherwise(line: bytes, refusal: DataError, tally: Tally | None) -> str:
    tally = Tally() if tally is None else tally
    mended = line.decode("utf-8", "replace")
    broken = mended.count("\ufffd")
    if sum(not letter.isascii() for letter in mended) > 2 * broken:  # most of it is UTF-8
        tally.damaged += 1
        return mended
    if _FOREIGN.search(line):
        raise refusal from None
    try:
        text = line.decode("cp1252")
    except UnicodeDecodeError:
        raise refusal from None
    tally.western += 1
    return text


def _unreadable(line: bytes, error: UnicodeDecodeError) -> str:
    byte = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
    return f"{byte} is neither UTF-8 nor windows-1252; name the encoding, such as cp1251, shift_jis or gb18030"
