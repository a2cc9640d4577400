"""Compiled graphs, kept from one start to the next: compiling takes half a second, reading what was compiled a tenth.

They are kept in the user's cache folder, by a word for everything that they depend on: the graph, the engine's version,
the processor, the threads. A file that is damaged is made anew, and only a few of the latest stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from pathlib import Path

from treetop.store import whole_bytes
from treetop.text.reading.engines import ENGINES
from treetop.text.reading.safety import cache_folder, machine_word

__all__ = ["find_compiled", "keep_compiled", "word_for"]

KEPT = 4
"""Graphs that stay; one of MiniLM takes 56 MiB."""
_CHECK = 4  # bytes in front: the check sum of the rest


def word_for(engine: str, description: Path, threads: int) -> str:
    """What a compiled graph is kept under; the description of an exported encoder holds the digests of its files."""
    machine = machine_word(engine, ENGINES[engine].packages[0])
    about = f"{machine} {threads} {os.environ.get('ONEDNN_MAX_CPU_ISA', '')}".encode()
    return f"{engine}-{hashlib.blake2b(about + description.read_bytes(), digest_size=12).hexdigest()}"


def find_compiled(word: str) -> bytes | None:
    """What was kept under a word, if it is there and whole."""
    file = _folder() / word
    with contextlib.suppress(OSError):
        content = file.read_bytes()
        if len(content) > _CHECK and zlib.crc32(memoryview(content)[_CHECK:]) == int.from_bytes(
            content[:_CHECK], "little"
        ):
            os.utime(file)
            return content[_CHECK:]
    return None


def keep_compiled(word: str, content: bytes) -> None:
    """Keep it, and forget the oldest of too many; a cache that cannot be written is no loss."""
    with contextlib.suppress(Exception):
        with whole_bytes(_folder() / word) as stream:
            stream.write(zlib.crc32(content).to_bytes(_CHECK, "little") + content)
        kept = sorted(_folder().iterdir(), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for file in kept[KEPT:]:
            file.unlink()


def _folder() -> Path:
    return cache_folder() / "compiled"
