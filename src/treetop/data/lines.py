"""Lines of a text file, one at a time: plain or gzip, with exact line numbers and a progress bar over bytes.

Lines end with a line feed, as Unix and Windows write them, or with a carriage return, as old Macs did.
"""

from __future__ import annotations

import gzip
import select
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from io import BufferedReader
from itertools import chain
from pathlib import Path
from types import TracebackType

from treetop.data.encodings import decode, transcoder
from treetop.data.limits import check_expansion, check_line
from treetop.data.tally import Tally
from treetop.errors import DataError, TreetopError
from treetop.runtime import Runtime

__all__ = ["Place", "blocks", "lines", "live_lines", "reason", "text_lines"]

_BLOCK = 1 << 20  # bytes; small blocks stay in the processor's cache between inflating, splitting and parsing
_LONGEST_REASON = 300
_PATIENCE = 0.02  # seconds without input after which what has arrived is handed on


class Place:
    """Where a reader is: a `DataError` raised inside `with place:` gets the file and the line if it names none.

    This is also where exceptions of libraries end: whatever a reader stumbles over is a `DataError` that says where.
    A file without lines counts another unit, such as rows.
    """

    def __init__(self, path: Path | str, unit: str = "line") -> None:
        self.path = path
        self.unit = unit
        self.line = 0

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, DataError) and error.path is None:
            raise self._told(str(error)) from None
        if error is not None and _foreign(error):
            raise self._told(f"cannot be read ({reason(error)}); it is damaged, or not what its name says") from error

    def _told(self, problem: str) -> DataError:
        if self.unit == "line" or not self.line:
            return DataError(problem, path=self.path, line=self.line or None)
        return DataError(f"{self.unit} {self.line}: {problem}", path=self.path)


def _foreign(error: BaseException) -> bool:
    """Whether a library stumbled over the data. One in Rust that panics raises what no `except Exception` catches."""
    if isinstance(error, TreetopError | MemoryError | BrokenPipeError):
        return False
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def reason(error: BaseException) -> str:
    """What a library says, in a line."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error).strip()
    first = said.splitlines()[0][:_LONGEST_REASON] if said else ""
    return repr(error)[:_LONGEST_REASON] if not first or isinstance(error, KeyError) else first


def lines(path: Path, runtime: Runtime | None = None, tally: Tally | None = None) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line without its end) of each line, also of empty ones; a byte order mark is dropped."""
    return _split(blocks(path, runtime, tally), path)


def text_lines(path: Path, runtime: Runtime | None = None, tally: Tally | None = None) -> Iterator[tuple[int, str]]:
    """As `lines`, decoded; a line that cannot be is an error that names it."""
    for number, line in lines(path, runtime, tally):
        try:
            text = line.decode()  # as nearly always
        except UnicodeDecodeError:
            text = decode(line, path, number, tally)
        yield number, text


def live_lines(stream: BufferedReader, tally: Tally | None = None) -> Iterator[tuple[int, bytes] | None]:
    """As `lines`, from a stream such as standard input; None says that the next line is late."""
    number, held = 1, b""
    block = stream.read1(_BLOCK)
    transcode = transcoder(block, tally or Tally(), "standard input")
    while block:
        *whole, held = (held + (transcode(block, False) if transcode else block)).split(b"\n")
        for line in whole:
            yield number, _clean(line, number)
            number += 1
        check_line(len(held), "standard input", number)
        if _pauses(stream):
            yield None
        block = stream.read1(_BLOCK)
    if held:
        yield number, _clean(held, number)


def blocks(path: Path, runtime: Runtime | None = None, tally: Tally | None = None) -> Iterator[bytes]:
    """The file in pieces of about a megabyte: UTF-8 unless `decode` finds otherwise, every line end a line feed."""
    raw = _blocks(path, runtime)
    first = next(raw, b"")
    pieces: Iterator[bytes] = chain([first], raw)
    if transcode := transcoder(first, tally or Tally(), path):
        pieces = chain((transcode(piece, False) for piece in pieces), (transcode(b"", True) for _ in range(1)))
        first = next(pieces)
        pieces = chain([first], pieces)
    if b"\r" in first and b"\n" not in first:
        pieces = (piece.replace(b"\r", b"\n") for piece in pieces)
    yield from pieces


def _blocks(path: Path, runtime: Runtime | None) -> Iterator[bytes]:
    """The bytes of the file, unpacked if it is gzip, a megabyte at a time; the bar follows the packed bytes."""
    with ExitStack() as stack:
        raw = stack.enter_context(_opened(path))
        advance = stack.enter_context((runtime or Runtime()).bar(f"reading {path.name}", path.stat().st_size))
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        stream = stack.enter_context(gzip.GzipFile(fileobj=raw)) if packed else raw
        done = unpacked = 0
        while block := _next_block(stream, path):
            unpacked += len(block)
            if packed:
                check_expansion(path.stat().st_size if raw.seekable() else unpacked, unpacked, path)
            yield block
            if raw.seekable():  # a named pipe is not, and nobody knows its length
                advance(raw.tell() - done)
                done = raw.tell()


def _split(blocks: Iterable[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    """Blocks of bytes as numbered lines; a line may span many blocks."""
    number, held = 1, [b""]
    for block in blocks:
        head, *rest = block.split(b"\n")
        held.append(head)
        if rest:
            yield number, _clean(b"".join(held), number)
            held = [rest.pop()]
            for number, line in enumerate(rest, number + 1):  # noqa: B020
                yield number, line.removesuffix(b"\r")
            number += 1
        check_line(sum(map(len, held)), path, number)
    if last := b"".join(held):
        yield number, _clean(last, number)


def _pauses(stream: BufferedReader) -> bool:
    """Whether nothing more arrives for a moment; never, where that cannot be told."""
    try:
        return not select.select([stream], [], [], _PATIENCE)[0]
    except (OSError, ValueError):  # not a pipe or a terminal, or not on this system
        return False


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be opened ({error.strerror}); check the path and the permissions", path=path) from None


def _next_block(stream: BufferedReader | gzip.GzipFile, path: Path) -> bytes:
    try:
        return stream.read(_BLOCK)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"the gzip file is damaged or cut short ({error}); fetch it again", path=path) from None


def _clean(line: bytes, number: int) -> bytes:
    line = line.removesuffix(b"\r")
    return line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
