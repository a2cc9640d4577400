from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from treetop.data.lines import Place, lines, live_lines, text_lines
from treetop.data.tally import Tally
from treetop.errors import DataError


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"a", [(1, b"a")]),
        (b"a\n", [(1, b"a")]),
        (b"a\n\nb\r\n\n", [(1, b"a"), (2, b""), (3, b"b"), (4, b"")]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", [(1, b"a"), (2, b"\xef\xbb\xbfb")]),
        (b"x" * 3_000_000 + b"\ny", [(1, b"x" * 3_000_000), (2, b"y")]),
    ],
)
def test_lines_plain_packed_and_live(tmp_path: Path, content: bytes, expected: list[tuple[int, bytes]]) -> None:
    assert list(lines(written(tmp_path, content))) == expected
    assert list(lines(written(tmp_path, gzip.compress(content)))) == expected
    live = live_lines(io.BufferedReader(io.BytesIO(content)))
    assert [item for item in live if item is not None] == expected


def test_live_lines_do_not_wait_for_more() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as pipe:
        arriving = live_lines(stream)
        pipe.write(b"one\ntw")
        assert [next(arriving), next(arriving)] == [(1, b"one"), None]
        pipe.write(b"o\n")
        assert next(arriving) == (2, b"two")


def test_a_named_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"one\ntwo\n",))
    writer.start()
    assert list(lines(path)) == [(1, b"one"), (2, b"two")]
    writer.join()


def test_text_lines_name_the_line_that_cannot_be_decoded(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2: byte 0x81 at position 3 is neither UTF-8 nor windows-1252"):
        list(text_lines(written(tmp_path, b"fine\nno\x81\n")))


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"], ids=["Unix", "Windows", "old Mac"])
def test_line_ends(tmp_path: Path, ends: bytes) -> None:
    content = ends.join([b"one", b"x" * 1_500_000, b"", b"three", b""])
    assert [len(line) for _, line in lines(written(tmp_path, content))] == [3, 1_500_000, 0, 5]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "shift_jis"])
def test_wide_encodings_by_their_mark_or_by_name(tmp_path: Path, encoding: str) -> None:
    content = "first 日本\r\nsecond\r\n" * 100_000  # more than a block
    path = written(tmp_path, content.encode(encoding))
    marked = encoding in ("utf-16", "utf-32")
    tally = Tally(encoding=None if marked else encoding)
    found = [line for _, line in text_lines(path, tally=tally)]
    assert found == ["first 日本", "second"] * 100_000
    assert tally.encoding == encoding
    live = live_lines(io.BufferedReader(io.BytesIO(path.read_bytes())), tally)
    assert [item[1].decode() for item in live if item is not None] == found


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be opened \(Is a directory\)"):
        list(lines(tmp_path))


def fail(place: Place, error: BaseException) -> None:
    with place:
        place.line = 3
        raise error


Panic = type("PanicException", (BaseException,), {})
"""As libraries in Rust raise it."""


def test_place_adds_what_an_error_lacks() -> None:
    with pytest.raises(DataError, match=r"^f, line 3: bad$"):
        fail(Place("f"), DataError("bad"))
    with pytest.raises(DataError, match=r"^f: row 3: bad$"):
        fail(Place("f", unit="row"), DataError("bad"))
    with pytest.raises(DataError, match=r"^g, line 1: bad$"):
        fail(Place("f"), DataError("bad", path="g", line=1))
    with pytest.raises(MemoryError):
        fail(Place("f"), MemoryError("passes"))


@pytest.mark.parametrize("error", [KeyError("x"), OverflowError("x"), RecursionError("x"), OSError(5, "x"), Panic("x")])
def test_what_a_library_stumbles_over_says_where(error: BaseException) -> None:
    with pytest.raises(DataError, match=r"^f, line 3: cannot be read \(.*x.*\); it is damaged, or not what"):
        fail(Place("f"), error)
