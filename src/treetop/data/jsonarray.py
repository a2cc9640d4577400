"""A JSON file that is one list of objects, read object by object: no more than a few megabytes are held at a time."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from treetop.data.encodings import decode
from treetop.data.limits import check_line
from treetop.data.lines import blocks
from treetop.data.tally import Tally
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["array_objects", "begins_array", "mended"]

_WHITE = " \t\r\n"
_AHEAD = 1 << 21  # what may be held of later objects
_NOT_ASCII = bytes(range(128, 256))


def begins_array(path: Path, tally: Tally | None = None) -> bool:
    """Whether the file begins with an opening bracket."""
    if not path.is_file():  # what comes through a pipe can be read only once
        return False
    start = next(blocks(path, tally=replace(tally) if tally else None), b"")
    return start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def array_objects(
    path: Path, runtime: Runtime | None = None, tally: Tally | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each object in the list."""
    window = _Window(path, _texts(path, runtime, tally))
    window.expect("[")
    while window.next_letter() != "]":
        line = window.line
        value = window.value()
        if not isinstance(value, dict):
            raise DataError(f"{str(value)[:40]!r} in the list is no JSON object; {_REMEDY}", path=path, line=line)
        yield line, value
        if window.next_letter() != "]":
            window.expect(",")
    window.expect("]")
    if window.next_letter():
        raise DataError(f"there is more behind the list; {_REMEDY}", path=path, line=window.line)


class _Window:
    """The part of the text that is being parsed; it moves over the file, and counts lines."""

    def __init__(self, path: Path, texts: Iterator[str]) -> None:
        self.path = path
        self.line = 1
        self._texts = texts
        self._held, self._at = "", 0
        self._scan = json.JSONDecoder().raw_decode

    def next_letter(self) -> str:
        """The next character that is not white space, which is not yet taken; empty at the end."""
        while True:
            held, at = self._held, self._at
            while at < len(held) and held[at] in _WHITE:
                at += 1
            self.line += held.count("\n", self._at, at)
            self._at = at
            if at < len(held):
                return held[at]
            if not self._more():
                return ""

    def expect(self, letter: str) -> None:
        """Take this character, or say that it is not there."""
        if (found := self.next_letter()) != letter:
            there = repr(found) if found else "the end of the file"
            raise DataError(f"not valid JSON (expected {letter!r}, found {there})", path=self.path, line=self.line)
        self._at += 1

    def value(self) -> Any:
        """The value that begins here; more is read until it is whole."""
        while True:
            try:
                value, end = self._scan(self._held, self._at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError):
                    check_line(len(self._held) - self._at - _AHEAD, self.path, self.line)
                    if self._more():
                        continue
                reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
                raise DataError(f"not valid JSON ({reason}); {_REMEDY}", path=self.path, line=self.line) from None
            start, self._at = self._at, end
            self.line += self._held.count("\n", start, end)
            halves = any(self._held.find(half, start, end) >= 0 for half in ("\\ud", "\\uD"))
            return mended(value) if halves and isinstance(value, dict) else value

    def _more(self) -> bool:
        """As much again as is held, so that a long object is not parsed too often; False at the end of the file."""
        parts = [self._held[self._at :]]
        wanted = len(parts[0])
        while wanted >= 0 and (text := next(self._texts, "")):
            parts.append(text)
            wanted -= len(text)
        self._held, self._at = "".join(parts), 0
        return len(parts) > 1


def mended(record: dict[str, Any]) -> dict[str, Any]:
    """The record with each half of a surrogate pair, which JSON can spell but no UTF-8 file hold, made U+FFFD."""
    units = json.dumps(record, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
    whole: dict[str, Any] = json.loads(units.decode("utf-16-le", "replace"))
    return whole


def _texts(path: Path, runtime: Runtime | None, tally: Tally | None) -> Iterator[str]:
    """The file as pieces of text, cut behind an ASCII character and so never within one."""
    held, line = b"", 1
    for block in blocks(path, runtime, tally):
        piece = held + block
        whole = piece.rstrip(_NOT_ASCII)
        held = piece[len(whole) :]
        yield decode(whole, path, line, tally).removeprefix("\ufeff" if line == 1 else "")
        line += whole.count(b"\n")
    if held:
        yield decode(held, path, line, tally)


_REMEDY = 'expected a list of objects such as [{"text": "…", "labels": ["a", "b"]}, …]'
