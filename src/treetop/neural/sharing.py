"""What one of several processes makes and the others are given, and work on texts that all of them divide.

What needs no gradients is done once: trees, linear starts and rankers by the leading process, with all its cores, while
the others sleep; it hands them over in a folder that all of them see, the checkpoints' if there is one. What an encoder
makes of the texts is divided: each process reads a part of them into one file, which all then map.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treetop.neural.parallel import World
from treetop.sparse import canonical
from treetop.store import Folder, discard
from treetop.types import CSR, Dense

__all__ = ["Sharing"]

T = TypeVar("T")


class Sharing:
    """The processes of a world, and the folder that they share; alone, everything is simply done."""

    def __init__(self, world: World, folder: Path | None = None) -> None:
        self.world, self._folder = world, folder

    @property
    def peers(self) -> Sharing | None:
        """Itself, if there are others to read with."""
        return self if self.world.size > 1 else None

    @property
    def home(self) -> Path:
        """The folder; agreed on when it is first needed, by all of them."""
        if self._folder is None:
            made = tempfile.mkdtemp(prefix="treetop-shared-") if self.world.is_leader else ""
            self._folder = Path(self.world.tell(made))
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def told(self, make: Callable[[], T]) -> T:
        """Something small that the leading process makes."""
        if self.world.size == 1:
            return make()
        made: T = self.world.tell(make() if self.world.is_leader else None)
        return made

    def once(
        self, name: str, make: Callable[[], T], write: Callable[[T, Folder], Any], read: Callable[[Folder], T]
    ) -> T:
        """Something large that the leading process makes and writes, and the others read."""
        if self.world.size == 1:
            return make()
        place = self.home / f"shared-{name}"
        value: T | None = None
        if self.world.is_leader:
            value = make()
            shutil.rmtree(place, ignore_errors=True)
            with Folder.create(place, sealed=False) as folder:
                write(value, folder)
        self.world.wait()
        result = read(Folder(place)) if value is None else value
        self.world.wait()
        if self.world.is_leader:
            shutil.rmtree(place, ignore_errors=True)  # what is mapped stays until it is forgotten
        return result

    def first(self, do: Callable[[], T]) -> T:
        """Something that all do, the leading process before the others: they find what it left on disk."""
        result = do() if self.world.is_leader else None
        self.world.wait()
        return do() if result is None else result

    def each(self, texts: int, do: Callable[[NDArray[np.int64]], CSR]) -> CSR:
        """Rows of a sparse matrix, each process some of them; all have the whole then."""
        if self.world.size == 1:
            return do(np.arange(texts))
        parts = self.world.gather(do(self._own(texts)))
        columns = parts[0].shape[1]
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.indptr) for part in parts]))])
        indices, data = (np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "data"))
        return canonical(CSR((data, indices, indptr), shape=(texts, columns)))

    def divided(self, read: Callable[[NDArray[np.int64]], Dense], texts: int, width: int) -> Dense:
        """Rows of numbers, each process some of them, in one file that all of them map."""
        if self.world.size == 1:
            return read(np.arange(texts))
        file, shape = self.home / "shared-states.npy", (texts, width)
        if self.world.is_leader:
            np.lib.format.open_memmap(file, "w+", np.float32, shape).flush()
        self.world.wait()
        own = self._own(texts)
        if len(own):
            whole = np.lib.format.open_memmap(file, "r+")
            whole[own] = read(own)
            whole.flush()
        self.world.wait()
        result: Dense = np.load(file, mmap_mode="r")
        self.world.wait()
        if self.world.is_leader:
            file.unlink()  # whoever maps it keeps it
        return result

    def close(self) -> None:
        """Forget a folder that was made for this alone."""
        if self._folder is not None and self._folder.name.startswith("treetop-shared-"):
            self.world.wait()
            if self.world.is_leader:
                discard(self._folder)

    def _own(self, texts: int) -> NDArray[np.int64]:
        return np.array_split(np.arange(texts), self.world.size)[self.world.rank]
