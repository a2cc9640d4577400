"""The folder that all machines of a cluster share: tasks and texts to work on, and what has been done.

A task is written once, its large arrays as files of their own that carry the digest of their bytes, so that levels
share what they have in common. Machines map these files and read only the rows of the pieces they do. Each result is a
file that appears whole or not at all; what exists is not done again, by whomever it was done.

A task is a pickle: whoever can write into the folder can run code on the cluster, as whoever can reach Ray can.
"""

from __future__ import annotations

import os
import pickle
import secrets
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from treetop.errors import ConfigError, StoreError
from treetop.pieces import Arrays, Task
from treetop.store import Folder, whole_bytes

__all__ = ["SharedFolder", "get_task"]

_LARGE = 1 << 16  # Bytes: smaller arrays stay in the task itself.
_TOKEN = "token"


class SharedFolder:
    """Tasks and results by name."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def open(self) -> str:
        """Make the folder, and put a token into it by which other machines know it again."""
        token = secrets.token_hex(16)
        with whole_bytes(self.path / _TOKEN) as file:
            file.write(token.encode())
        return token

    def check(self, token: str, machine: str) -> None:
        """Refuse a folder that is not the one with this token, or in which this machine cannot write."""
        try:
            same = (self.path / _TOKEN).read_text(encoding="ascii") == token
            trial = self.path / f".{secrets.token_hex(8)}.partial"
            trial.write_bytes(b"")
            trial.unlink()
        except OSError as error:
            same = False
            reason = f" ({error.strerror})"
        else:
            reason = ""
        if not same:
            raise ConfigError(
                f"machine {machine} does not have the shared folder {self.path}{reason}; give --shared a folder that "
                "every machine of the cluster sees under the same path and may write into"
            )

    def put_task(self, task: Task[Any]) -> str:
        """Write a task, if it is not there yet; its name follows from all it is made of."""
        digests: list[str] = []

        def keep(buffer: pickle.PickleBuffer) -> bool:
            content = buffer.raw()
            if content.nbytes < _LARGE:
                return True
            digests.append(self._put_array(content))
            return False

        head = pickle.dumps(task, protocol=5, buffer_callback=keep)
        whole = pickle.dumps((head, digests), protocol=5)
        name = _digest(whole)
        _write_once(self.path / "tasks" / name, whole)
        return name

    def take_task(self, name: str) -> Task[Any]:
        """A task, its large arrays mapped."""
        head, digests = pickle.loads((self.path / "tasks" / name).read_bytes())
        buffers = [np.memmap(self.path / "arrays" / digest, np.uint8, "r") for digest in digests]
        task: Task[Any] = pickle.loads(head, buffers=buffers)
        return task

    def has_result(self, task: str, number: int) -> bool:
        """Whether a piece is done."""
        return self._result(task, number).exists()

    def put_result(self, task: str, number: int, arrays: Arrays) -> None:
        """Write the result of a piece."""
        target = self._result(task, number)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = f".{target.name}.{secrets.token_hex(8)}.partial"
        folder = Folder(target.parent)
        try:
            folder.write_tensors(draft, arrays)
            with (target.parent / draft).open("rb") as file:
                os.fsync(file.fileno())
            (target.parent / draft).replace(target)
        finally:
            (target.parent / draft).unlink(missing_ok=True)

    def result(self, task: str, number: int) -> Arrays:
        """The result of a piece, mapped."""
        target = self._result(task, number)
        try:
            return Folder(target.parent).read_tensors(target.name)
        except StoreError as error:
            raise StoreError(f"{error}; remove it and run the same command again", path=target) from None

    def _put_array(self, content: memoryview) -> str:
        name = _digest(content)
        _write_once(self.path / "arrays" / name, content)
        return name

    def _result(self, task: str, number: int) -> Path:
        return self.path / "results" / task / f"{number:06}.safetensors"


@lru_cache(maxsize=2)
def get_task(folder: Path, name: str) -> Task[Any]:
    """A task of a shared folder, kept from piece to piece."""
    return SharedFolder(folder).take_task(name)


def _write_once(path: Path, content: Any) -> None:
    if not path.exists():
        with whole_bytes(path) as file:
            file.write(content)


def _digest(content: Any) -> str:
    return blake2b(content, digest_size=16).hexdigest()
