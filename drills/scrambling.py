"""Damage to the bytes of a file, at random but repeatable; what is packed is damaged inside as often as outside."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from random import Random

__all__ = ["scrambled"]

_WORDS = (
    b"", b"\n", b"\r", b"\r\n", b"\0", b'"', b'""', b"'", b",", b";", b"\t", b":", b" ", b"{", b"}", b"[", b"]", b"[[",
    b'{"a":', b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"1e39", b"-1", b"0", b"1", b"2147483648", b"-0.0",
    b"99999999999999999999", b"9" * 5000, b"1" * 400 + b".5", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff",
    b"\xed\xa0\x80", b"\\ud800", b"\\u0000", "ü".encode(), "ü".encode("latin-1"), "\u2028".encode(), b"text", b"labels",
    b"id", b"#", b"<b>", b"&amp;", b"[" * 3000, b'{"a":' * 3000, b"a" * 70_000, b"label\tscore\n", b"\x1f\x8b", b"PK",
)  # fmt: skip
_NUMBERS = b"0123456789"


def scrambled(name: str, content: bytes, random: Random) -> bytes:
    """The content with one change, or a few."""
    inside = _inside(name) if random.random() < 0.6 else None
    if inside is not None:
        return inside(content, random)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        content = random.choice(_CHANGES)(content, random)
    return content


def _inside(name: str) -> Callable[[bytes, Random], bytes] | None:
    if name.endswith((".npz", ".xlsx")):
        return _in_archive
    return _in_gzip if name.endswith(".gz") else None


def _in_archive(content: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    name = random.choice(list(parts))
    parts[name] = scrambled("part", parts[name], random)
    if random.random() < 0.05:
        del parts[random.choice(list(parts))]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as new:
        for name, part in parts.items():
            new.writestr(zipfile.ZipInfo(name), part)
    return stream.getvalue()


def _in_gzip(content: bytes, random: Random) -> bytes:
    return gzip.compress(scrambled("part", zlib.decompress(content, 31), random), 1, mtime=0)


def _place(content: bytes, random: Random) -> int:
    return random.randrange(len(content) + 1)


def _flip(content: bytes, random: Random) -> bytes:
    if not content:
        return content
    place = random.randrange(len(content))
    return content[:place] + bytes((random.randrange(256),)) + content[place + 1 :]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: _place(content, random)]


def _drop(content: bytes, random: Random) -> bytes:
    place = _place(content, random)
    return content[:place] + content[place + random.choice((1, 2, 8, 64)) :]


def _insert(content: bytes, random: Random) -> bytes:
    place = _place(content, random)
    return content[:place] + random.choice(_WORDS) + content[place:]


def _write_over(content: bytes, random: Random) -> bytes:
    place, word = _place(content, random), random.choice(_WORDS)
    return content[:place] + word + content[place + len(word) :]


def _repeat(content: bytes, random: Random) -> bytes:
    start, end = sorted((_place(content, random), _place(content, random)))
    return content[:end] + content[start:end] * random.choice((1, 2, 30)) + content[end:]


def _number(content: bytes, random: Random) -> bytes:
    """Other digits where digits are, or another whole number in binary."""
    places = [place for place, byte in enumerate(content[:2000]) if byte in _NUMBERS]
    if not places or random.random() < 0.3:
        place, width = _place(content, random), random.choice((1, 2, 4, 8))
        value = random.choice((0, 1, 2**31 - 1, 2**31, 2**63, 2**64 - 1, 10**9, 2**32)) % (1 << 8 * width)
        return content[:place] + value.to_bytes(width, "little") + content[place + width :]
    place = random.choice(places)
    word = random.choice((b"-1", b"99", b"1000000000", b"9" * 30, b"1e400", b"nan", b"", b"0.5"))
    return content[:place] + word + content[place + 1 :]


_CHANGES = (_flip, _flip, _cut, _drop, _insert, _insert, _write_over, _repeat, _number, _number)
