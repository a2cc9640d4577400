from __future__ import annotations

import pytest

from treetop.data.encodings import check_encoding, decode, transcoder
from treetop.data.tally import Tally
from treetop.errors import ConfigError, DataError


def test_utf8_is_taken_as_it_is() -> None:
    tally = Tally()
    assert decode("שלום 🌳".encode(), "x", 1, tally) == "שלום 🌳"
    assert tally == Tally()


@pytest.mark.parametrize("text", ["it’s", "café", "“naïve” – 5 €", "CAFÉ’S ÉTÉ", "Ærø"])
def test_windows_1252_where_utf8_fails(text: str) -> None:
    tally = Tally()
    assert decode(text.encode("cp1252"), "x", 1, tally) == text
    assert tally.western == 1


def test_utf8_with_a_broken_letter_stays_utf8() -> None:
    tally = Tally()
    assert decode("größer, schöner, weiß".encode() + b"\xc3", "x", 1, tally) == "größer, schöner, weiß\ufffd"
    assert (tally.western, tally.damaged) == (0, 1)


@pytest.mark.parametrize(("text", "encoding"), [("привет", "cp1251"), ("καλημέρα", "cp1253"), ("日本語", "euc_jp")])
def test_what_looks_like_neither_is_refused(text: str, encoding: str) -> None:
    with pytest.raises(DataError, match=r"^file, line 7: byte 0x.. at position 3 is neither UTF-8 nor windows-1252"):
        decode(b"x " + text.encode(encoding), "file", 7)


def test_a_named_encoding_is_obeyed_across_blocks() -> None:
    data = "ein Käse\nzwei".encode("utf-16-le")
    transcode = transcoder(data, Tally(encoding="utf-16-le"), "x")
    assert transcode is not None
    assert b"".join([transcode(data[:9], False), transcode(data[9:], True)]).decode() == "ein Käse\nzwei"


def test_marks_tell_wide_encodings() -> None:
    for encoding in ("utf-16", "utf-32"):
        tally = Tally()
        assert transcoder("x".encode(encoding), tally, "x") is not None
        assert tally.encoding == encoding
    assert transcoder(b"\xef\xbb\xbfplain", Tally(), "x") is None


def test_bytes_that_are_not_of_the_named_encoding() -> None:
    transcode = transcoder(b"", Tally(encoding="utf-8"), "file")
    assert transcode is not None
    transcode(b"one\ntwo\n", False)
    with pytest.raises(DataError, match=r"^file, line 4: byte 0xe9 is not utf-8; name another encoding"):
        transcode(b"three\ncaf\xe9s\n", False)


@pytest.mark.parametrize("name", ["klingon", "base64", "rot13"])
def test_what_is_no_encoding(name: str) -> None:
    check_encoding(None)
    check_encoding("utf-16")
    with pytest.raises(ConfigError, match=f"there is no encoding called '{name}'; give one that Python knows, such as"):
        check_encoding(name)
