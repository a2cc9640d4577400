"""A model folder: JSON and safetensors files, written all or nothing, read by mapping them into memory.

A folder is written beside its final place, flushed to disk and renamed at the end, so that an interrupted save leaves
the old model as it was. Its manifest tells later whether it is still what was written. Tensors are in the safetensors
format (a JSON header, then the raw arrays), which any other tool reads. It is written and mapped here because the
library's numpy reader copies every array.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treetop import manifest
from treetop.errors import MissingExtraError, StoreError

__all__ = ["Folder", "Late", "discard", "whole_bytes", "whole_file"]

_DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
_ALIGNMENT = 64
_MOST_JSON = 1 << 28
"""Bytes of a JSON file or of a header of tensors; ours have a few thousand."""
_LONGEST_REASON = 300
_AT_ONCE = 1 << 26  # bytes


@dataclass(frozen=True, slots=True)
class Late:
    """An array that is made when it is written, and forgotten then: what is elsewhere is never here as a whole."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    make: Callable[[], NDArray[Any]]

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the whole."""
        return self.itemsize * math.prod(self.shape)


class Folder:
    """Named files of one model. `Folder.open(path)` reads; `with Folder.create(path) as folder:` writes atomically."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Folder:
        """An existing folder, for reading; a quick look at its manifest tells whether a file was cut or exchanged."""
        with _readable(Path(path)):
            there = Path(path) if os.path.exists(path) else _aside(_place(path))
            if not os.path.isdir(there):
                with suppress(FileNotFoundError, NotADirectoryError):
                    os.stat(path)  # says why, if it is not simply absent
                    raise StoreError("this is a file, not a model folder", path=path)
                raise StoreError("there is no such model folder", path=path)
            os.listdir(there)
        manifest.check(there)
        return cls(there)

    @classmethod
    @contextmanager
    def create(cls, path: str | PathLike[str], *, sealed: bool = True) -> Iterator[Folder]:
        """A folder that appears under its name, complete, when the block ends without an error.

        It is sealed by a manifest, unless it is no model.
        """
        target = _place(path)
        with _as_store_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            cls.check_target(target)
            draft = _draft(target, target.parent)
            draft.chmod(0o777 & ~_umask())  # mkdtemp makes it private; a model is as readable as any file of its owner
        try:
            with _as_store_errors(target):
                yield cls(draft)
                if sealed:
                    manifest.seal(draft)
                _flush_tree(draft)
                _replace(target, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    @staticmethod
    def check_target(path: str | PathLike[str]) -> None:
        """Refuse a place that `create` would refuse or fail at; worth asking before a long training.

        A link is followed: what it points to is written, or replaced, and the link stays.
        """
        target = _place(path)
        with _as_store_errors(target):
            if target.is_symlink():
                raise StoreError("is a link that points to itself; choose another name or remove it", path=target)
            if target.exists() and not _replaceable(target):
                raise StoreError("exists and is not a model folder; choose another name or remove it", path=target)
            if os.path.ismount(target):
                raise StoreError("is the root of a disk and cannot be replaced; give a folder inside it", path=target)
            home = next(parent for parent in target.parents if parent.exists())
            _draft(target, home).rmdir()  # whatever the system has against it, it says now

    def verify(self, threads: int = 0) -> manifest.Verified:
        """Read every byte and compare it with the manifest: what was found, or an error that names the first file."""
        return manifest.verify(self.path, threads)

    def sub(self, name: str) -> Folder:
        """A folder inside this one."""
        return Folder(self.path / name)

    def has(self, name: str) -> bool:
        """Whether a file or folder of that name is there."""
        return os.path.exists(self.path / name)

    def write_json(self, name: str, value: Any) -> None:
        """Write one value as indented JSON."""
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
        self._file(name).write_text(text + "\n", encoding="utf-8")

    def write_text(self, name: str, text: str) -> None:
        """Write a text as it is."""
        self._file(name).write_text(text, encoding="utf-8")

    def read_json(self, name: str) -> Any:
        """The value of a JSON file."""
        with self.reading(name) as path:
            if path.stat().st_size > _MOST_JSON:
                raise ValueError(f"{path.stat().st_size:,} bytes of JSON, more than {_MOST_JSON:,}")
            return json.loads(path.read_text(encoding="utf-8"))

    def write_lines(self, name: str, values: Iterable[Any]) -> None:
        """Write one JSON value per line."""
        with self._file(name).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)

    def read_lines(self, name: str) -> Iterator[Any]:
        """The values of a file with one JSON value per line."""
        with self.reading(name) as path, path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def read_all_lines(self, name: str) -> list[Any]:
        """The same as a list, which is quicker: they are taken for the elements of one array."""
        with self.reading(name) as path, path.open(encoding="utf-8") as file:
            values: list[Any] = json.loads(f"[{','.join(line for line in file if line.strip())}]")
            return values

    def write_tensors(self, name: str, tensors: Mapping[str, NDArray[Any] | Late]) -> None:
        """Write arrays as one safetensors file, array by array, without a copy of the whole in memory."""
        arrays = {k: v if isinstance(v, Late) else np.asarray(v, order="C") for k, v in tensors.items()}
        # Wide numbers first: then each array begins at a multiple of its item size, as C++ expects.
        ordered = dict(sorted(arrays.items(), key=lambda item: -item[1].itemsize))
        text = json.dumps(_header(ordered), separators=(",", ":")).encode()
        text += b" " * (-(8 + len(text)) % _ALIGNMENT)
        with self._file(name).open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for value in ordered.values():
                array = np.asarray(value.make(), order="C") if isinstance(value, Late) else value
                _pour(array.reshape(-1).view(np.uint8), file)

    def read_tensors(self, name: str, kinds: Mapping[str, type[np.generic]] | None = None) -> dict[str, NDArray[Any]]:
        """The arrays of a safetensors file: read-only, mapped, loaded by the system as they are touched.

        `kinds` are the types that some of them must have, where they are there.
        """
        with self.reading(name) as path:
            size = path.stat().st_size
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                if not 0 < length <= min(size - 8, _MOST_JSON):
                    raise ValueError("the header is cut short")
                header = json.loads(file.read(length))
            if not isinstance(header, dict):
                raise ValueError("the header is not a table of arrays")
            mapped = np.memmap(path, np.uint8, "r", offset=8 + length) if size > 8 + length else np.empty(0, np.uint8)
            body = np.asarray(mapped)  # plain: every view of a memmap costs several microseconds
            arrays = {key: _view(body, entry) for key, entry in header.items() if key != "__metadata__"}
            for key, kind in (kinds or {}).items():
                if key in arrays and (arrays[key].dtype != kind or arrays[key].ndim != 1):
                    raise ValueError(f"{key!r} is {arrays[key].ndim}-dimensional {arrays[key].dtype}")
            return arrays

    def _file(self, name: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def reading(self, name: str = "") -> Iterator[Path]:
        """A block that reads a file, or makes sense of several: whatever it stumbles over is damage, and says where."""
        path = self.path / name
        with _readable(path):
            if name and not stat.S_ISREG(path.stat().st_mode):
                raise StoreError("is not a file; restore the folder", path=path)
            yield path

    def check_files(self) -> None:
        """Refuse a folder with a pipe or a device: a library that opens files by name would read it without end."""
        with self.reading():
            for place, _, names in os.walk(self.path):
                for path in (Path(place, name) for name in names):
                    if path.exists() and not path.is_file():
                        raise StoreError("is not a file; restore the folder", path=path)


def discard(path: Path) -> None:
    """Remove a folder all or nothing: out of the way first, so that no half of it is ever found under its name."""
    aside = path.with_name(f".{path.name}.discarded.partial")
    shutil.rmtree(aside, ignore_errors=True)
    with suppress(OSError):
        path.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)
    shutil.rmtree(path, ignore_errors=True)


def whole_file(path: str | PathLike[str]) -> AbstractContextManager[IO[str]]:
    """A text file that appears under its name, complete, when the block ends without an error."""
    return _whole(path, "w", "utf-8")


def whole_bytes(path: str | PathLike[str]) -> AbstractContextManager[IO[bytes]]:
    """The same of a binary file."""
    return _whole(path, "wb", None)


@contextmanager
def _whole(path: str | PathLike[str], mode: str, encoding: str | None) -> Iterator[IO[Any]]:
    target = _place(path)
    if target.is_dir():
        raise StoreError("is a folder; give the name of a file", path=target)
    if os.path.exists(target) and not target.is_file():  # a device or a pipe: never replaced
        with _as_store_errors(target), target.open(mode, encoding=encoding) as file:
            yield file
        return
    with _as_store_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    try:
        with _as_store_errors(target):
            with open(handle, mode, encoding=encoding) as file:
                yield file
                file.flush()
                os.fsync(handle)
            Path(draft).chmod(0o666 & ~_umask())
            Path(draft).replace(target)
    finally:
        Path(draft).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _place(path: str | PathLike[str]) -> Path:
    """Where something is or will be: links followed, and with a last part that is a name, which `.` is not."""
    return Path(os.path.realpath(path))


def _draft(target: Path, home: Path) -> Path:
    """A new folder with a name that tells what it will become."""
    return Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=home))


def _header(arrays: Mapping[str, NDArray[Any] | Late]) -> dict[str, Any]:
    header, start = {}, 0
    for key, array in arrays.items():
        end = start + array.nbytes
        header[key] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
        start = end
    return header


def _pour(content: NDArray[np.uint8], file: IO[bytes]) -> None:
    """Write an array; of one that is mapped from a file, what has been written leaves memory again."""
    origin: Any = content
    while isinstance(origin, np.ndarray):
        origin = origin.base
    mapped = origin if isinstance(origin, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
    step = _AT_ONCE if mapped is not None else max(1, len(content))
    for first in range(0, len(content), step):
        file.write(content[first : first + step].data)
        if mapped is not None:
            mapped.madvise(mmap.MADV_DONTNEED)


def _view(body: NDArray[np.uint8], entry: Mapping[str, Any]) -> NDArray[Any]:
    (start, end), shape = entry["data_offsets"], entry["shape"]
    if entry["dtype"] not in _DTYPES:
        raise ValueError(f"arrays of type {entry['dtype']} are not known here")
    kind = np.dtype(_DTYPES[entry["dtype"]])
    if not 0 <= start <= end <= len(body):
        raise ValueError("the file is cut short")
    if min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != end - start:
        raise ValueError(f"an array of shape {shape} does not fit into {end - start} bytes")
    array: NDArray[Any] = body[start:end].view(kind).reshape(shape)
    return array


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (StoreError, MissingExtraError, MemoryError):
        raise
    except FileNotFoundError:
        raise StoreError("the file is missing; this is not a complete treetop model folder", path=path) from None
    except OSError as error:
        raise StoreError(f"cannot be read ({error.strerror or error})", path=path) from error
    except Exception as error:
        raise _damage(path, error) from error
    except BaseException as error:  # a library in Rust that panics raises what no `except Exception` catches
        if type(error).__name__ != "PanicException":
            raise
        raise _damage(path, error) from error


def _damage(path: Path, error: BaseException) -> StoreError:
    """What was stumbled over, in one short line."""
    said = " ".join(str(error).split())[:_LONGEST_REASON]
    problem = said if said and not isinstance(error, KeyError) else repr(error)[:_LONGEST_REASON]
    what = "model" if path.is_dir() else "file"
    return StoreError(f"the {what} is damaged ({problem}); restore it or train again", path=path)


@contextmanager
def _as_store_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot be written ({error.strerror or error}); what was there before is unchanged", path=target
        ) from error


def _replaceable(target: Path) -> bool:
    return target.is_dir() and ((target / "model.json").exists() or not any(target.iterdir()))


def _flush_tree(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        _flush(path)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _aside(target: Path) -> Path:
    """Where the old model is while the new one takes its place, and stays if the process dies at that moment."""
    return target.with_name(f".{target.name}.old")


def _replace(target: Path, draft: Path) -> None:
    """Two renames, as no portable call swaps folders. At any moment one of the models is whole, here or aside."""
    old = _aside(target)
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
    try:
        draft.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    _flush(target.parent)
    shutil.rmtree(old, ignore_errors=True)
