"""Every byte of every file of weights, flipped one after the other: `treetop inspect --verify` must notice each."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from drills.current import current_models
from treetop.errors import StoreError
from treetop.store import Folder

__all__ = ["FLIPS", "flip_bytes"]

FLIPS = 1000
"""Bytes of a round."""
_WEIGHTS = (".safetensors", ".bin", ".onnx")


def flip_bytes(place: Path, number: int) -> str:
    """The bytes of a round, each flipped and put back."""
    sizes = _sizes()
    every = sum(size for _, size in sizes)
    for at in range(number * FLIPS, (number + 1) * FLIPS):
        path, offset = _file_at(at % every)
        home, inside = _copied(place, path)
        if not _noticed(home, inside, offset, 1 + at // every * 37 % 255):
            return f"{home.name}/{inside}, byte {offset}: not noticed"
    return ""


@cache
def _sizes() -> tuple[tuple[Path, int], ...]:
    files = (path for model in current_models() for path in sorted(model.rglob("*")) if path.suffix in _WEIGHTS)
    return tuple((path, path.stat().st_size) for path in files)


def _file_at(at: int) -> tuple[Path, int]:
    """The file that a byte is in, counted over all files, and its place there."""
    for path, size in _sizes():
        if at < size:
            return path, at
        at -= size
    raise IndexError(at)


def _copied(place: Path, path: Path) -> tuple[Path, Path]:
    """A copy of the model that a file is of, the only one there, and the file's place in it."""
    model = next(model for model in current_models() if model in path.parents)
    home = place / model.name
    if not home.exists():
        for other in place.iterdir():
            shutil.rmtree(other)
        shutil.copytree(model, home)
    return home, path.relative_to(model)


def _noticed(home: Path, inside: Path, offset: int, mask: int) -> bool:
    with (home / inside).open("r+b", buffering=0) as file:
        file.seek(offset)
        before = file.read(1)
        file.seek(offset)
        file.write(bytes((before[0] ^ mask,)))
        try:
            Folder(home).verify(threads=1)
        except StoreError as error:
            return inside.name in str(error)
        else:
            return False
        finally:
            file.seek(offset)
            file.write(before)
