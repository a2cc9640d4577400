"""Where a loaded model comes from, so that it can be pickled as the folder it was read from instead of as its arrays.

Processes on one machine that get such a model map the same files. It holds as long as the folder is as it was, which a
digest tells: names and sizes of all files, the contents of small ones, and of large ones when they were last changed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from treetop.errors import StoreError

__all__ = ["Origin", "digest_of"]

_SMALL = 1 << 16  # cards and settings; reading larger files would take from loading what mapping them gives


@dataclass(frozen=True, slots=True)
class Origin:
    """A model folder as it was when a model was loaded from it."""

    path: Path
    digest: str

    @classmethod
    def of(cls, path: Path) -> Origin:
        """The folder as it is now."""
        return cls(path.resolve(), digest_of(path))

    def unchanged(self) -> bool:
        """Whether the folder is still there and as it was."""
        try:
            return digest_of(self.path) == self.digest
        except OSError:
            return False

    def check(self) -> None:
        """Refuse a folder that is not what it was."""
        if not self.unchanged():
            raise StoreError(
                "this model was pickled as the folder that it was loaded from, which is gone or has changed; "
                "bring the folder back, or load the model anew and pickle that",
                path=self.path,
            )


def digest_of(folder: Path) -> str:
    """A short word for the state of a folder: another content has another."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        about = path.stat()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{about.st_size}\0".encode())
        digest.update(path.read_bytes() if about.st_size <= _SMALL else str(about.st_mtime_ns).encode())
    return digest.hexdigest()
