"""What a folder held when it was written: the size and the digest of every file, in `manifest.json`.

Opening a folder looks at all sizes, at small files as a whole and at some pages of large ones: a cut or exchanged file
is noticed before it is mapped, for a few milliseconds. `verify` reads every byte. The digest is SHA-256, which
processors have instructions for and `sha256sum` computes, too. A manifest tells damage, not who wrote it: whoever can
change a file can change its line here.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from treetop.errors import StoreError
from treetop.runtime import available_cores

__all__ = ["FOR_PEOPLE", "MANIFEST", "Verified", "check", "listed", "seal", "verify"]

MANIFEST = "manifest.json"
FOR_PEOPLE = "README.md"
"""The page that people may write into: nothing reads it, so a change of it is told and not refused."""
FORMAT = 1
SMALL = 1 << 20
"""Files up to this size are read as a whole when a folder is opened."""
PAGE, PAGES = 4096, 16
"""What is read of larger ones: so many pages, the first and the last among them."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Verified:
    """What was read and found to be as it was written."""

    files: int
    size: int
    unlisted: tuple[str, ...]
    """Files that are there but not in the manifest, as those that were added later."""
    edited: tuple[str, ...] = ()
    """Pages for people that were written into, or removed."""


def seal(folder: Path, threads: int = 0) -> None:
    """Write the manifest of a folder that is complete."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / MANIFEST]
    with ThreadPoolExecutor(threads or available_cores()) as pool:
        entries = dict(zip([_name(folder, path) for path in paths], pool.map(_describe, paths), strict=True))
    manifest = {"format": FORMAT, "digest": "sha256", "files": entries}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def check(folder: Path) -> None:
    """Refuse a folder in which a file is not what it was, as far as a quick look tells; one without manifest passes."""
    if (folder / MANIFEST).exists():
        for path, entry in _entries(folder):
            if path != folder / FOR_PEOPLE:
                _compare(path, entry, "sample" if "sample" in entry else "sha256")


def verify(folder: Path, threads: int = 0) -> Verified:
    """Read every byte of the files that the manifest lists; refuse the folder if any differs."""
    if not (folder / MANIFEST).exists():
        raise StoreError("has no manifest, as models of treetop 0.1; load and save it once to add one", path=folder)
    entries = dict(_entries(folder))
    page = entries.pop(folder / FOR_PEOPLE, None)
    with ThreadPoolExecutor(threads or available_cores()) as pool:
        list(pool.map(lambda one: _compare(one[0], one[1], "sha256"), entries.items()))
    known = {MANIFEST, *listed(folder)}
    unlisted = {_name(folder, path) for path in folder.rglob("*") if not path.is_dir()} - known
    edited = page is not None and not _same(folder / FOR_PEOPLE, page)
    size = sum(entry["size"] for entry in entries.values())
    return Verified(len(entries), size, tuple(sorted(unlisted)), (FOR_PEOPLE,) if edited else ())


def listed(folder: Path) -> list[str]:
    """The files of a manifest, by their places in the folder."""
    return [_name(folder, path) for path, _ in _entries(folder)]


def _same(path: Path, entry: Mapping[str, Any]) -> bool:
    try:
        _compare(path, entry, "sha256")
    except StoreError:
        return False
    return True


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _describe(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    entry = {"size": size, "sha256": _digest(path, "sha256", size)}
    return entry if size <= SMALL else {**entry, "sample": _digest(path, "sample", size)}


def _entries(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files of a manifest, each with what is known of it; a manifest may be as damaged as any other file."""
    path = folder / MANIFEST
    try:
        if not path.is_file():  # but a pipe, which would be waited for, or a device without end
            raise ValueError("it is not a file")
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files: dict[str, dict[str, Any]] = manifest["files"]
        if manifest["format"] != FORMAT:
            raise StoreError(f"has format {manifest['format']}, this version of treetop reads {FORMAT}", path=path)
        for name, entry in files.items():
            _check_entry(name, entry)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"the file is damaged ({error}); restore the folder, or delete this file", path=path) from None
    for name, entry in files.items():
        yield folder / name, entry


def _check_entry(name: str, entry: Mapping[str, Any]) -> None:
    place = PurePosixPath(name)
    if place.is_absolute() or ".." in place.parts or not isinstance(entry["size"], int):
        raise ValueError(f"an impossible entry {name!r}")
    if not all(isinstance(entry[key], str) for key in ("sha256", "sample") if key in entry) or "sha256" not in entry:
        raise ValueError(f"no digest of {name!r}")


def _compare(path: Path, entry: Mapping[str, Any], kind: str) -> None:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise StoreError("is not a file; restore the folder", path=path)
        if found.st_size != entry["size"]:
            _refuse(path, f"has {found.st_size:,} bytes, and had {entry['size']:,} when the folder was written")
        if _digest(path, kind, found.st_size) != entry[kind]:
            _refuse(path, "is not what it was when the folder was written")
    except FileNotFoundError:
        raise StoreError("the file is missing; restore the folder", path=path) from None
    except OSError as error:
        raise StoreError(f"cannot be read ({error.strerror or error})", path=path) from error


def _refuse(path: Path, problem: str) -> None:
    advice = f"restore it, or, if you changed it on purpose, delete {MANIFEST}"
    raise StoreError(f"the file is damaged ({problem}); {advice}", path=path)


def _digest(path: Path, kind: str, size: int) -> str:
    """The digest of a whole file, or of some of its pages."""
    digest, block = hashlib.sha256(), memoryview(bytearray(min(_BLOCK, max(size, 1))))
    with path.open("rb", buffering=0) as file:
        if kind == "sample":
            for number in range(PAGES):
                file.seek((size - PAGE) * number // (PAGES - 1))
                digest.update(file.read(PAGE))
            return digest.hexdigest()
        while read := file.readinto(block):
            digest.update(block[:read])
    return digest.hexdigest()
