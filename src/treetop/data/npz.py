"""Sparse matrices as scipy saves them (`scipy.sparse.save_npz`): `X.trn.npz` (features) and `Y.trn.npz` (labels).

scipy believes the arrays of a file. Here, sizes are compared with the file before anything is allocated, and every
index is looked at once before anything follows it.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop.data.limits import allowance, check_archive
from treetop.data.lines import Place, reason
from treetop.data.matrices import check_columns, check_values, without_zeros
from treetop.errors import DataError
from treetop.sparse import canonical, check_rows
from treetop.types import CSR

__all__ = ["read_features", "read_labels", "read_matrix", "read_words"]

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
_OF_FORMAT = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"),
    "coo": ("row", "col"), "dia": ("offsets",),
}  # fmt: skip
_NUMBERS = "biuf"


def read_features(path: Path) -> CSR:
    """A matrix texts × features."""
    features = read_matrix(path)
    with Place(path):
        check_columns(features.shape[1])
        check_values(features, "the features")
    return features


def read_labels(path: Path) -> CSR:
    """A matrix texts × labels; its values are relevances, and a stored zero is no label."""
    labels = read_matrix(path)
    with Place(path):
        check_values(labels, "the labels")
    return without_zeros(labels)


def read_matrix(path: Path) -> CSR:
    """Any matrix; every index is inside it."""
    try:
        with zipfile.ZipFile(path) as archive, np.errstate(over="ignore"):
            check_archive(archive, path)
            return canonical(_matrix({name: _array(archive, f"{name}.npy") for name in _names(archive)}))
    except (DataError, MemoryError) as error:
        if isinstance(error, MemoryError) or error.path is not None:
            raise
        problem = str(error)
    except Exception as error:
        problem = reason(error)
    hint = "save it with scipy.sparse.save_npz"
    raise DataError(f"not a sparse matrix in scipy's npz format ({problem}); {hint}", path=path)


def read_words(path: Path, name: str) -> list[str] | None:
    """A list of strings that was put beside a matrix as JSON in bytes, if it is there."""
    with zipfile.ZipFile(path) as archive:
        if f"{name}.npy" not in archive.namelist():
            return None
        words = json.loads(_array(archive, f"{name}.npy").tobytes())
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(f"{name} is no list of strings in JSON")
    return words


def _names(archive: zipfile.ZipFile) -> tuple[str, ...]:
    kind = _array(archive, "format.npy").item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
    if kind not in _OF_FORMAT:
        raise DataError(f"the format {str(kind)[:20]!r} is not known; csr is the usual one")
    return "format", "shape", "data", *_OF_FORMAT[kind]


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array that is as long as its header says."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        read_header = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = read_header(file)
        left = size - file.tell()
    if kind.hasobject or math.prod(shape) * kind.itemsize != left:
        raise DataError(f"{name}: an array of {kind} of shape {shape} in {left:,} bytes")
    with archive.open(name) as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array


def _matrix(arrays: Arrays) -> Any:
    """The matrix, once its indices are known to be inside it."""
    kind, shape = arrays["format"].item(), _shape(arrays["shape"])
    kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
    data = arrays["data"]
    for name in ("data", *_OF_FORMAT[kind]):
        array, blocks = arrays[name], name == "data" and kind in ("bsr", "dia")
        if array.dtype.kind not in (_NUMBERS if name == "data" else "iu") or (array.ndim != 1 and not blocks):
            raise DataError(f"{name} holds {array.dtype} in {array.ndim} dimensions")
    if shape[0] > allowance(data.size):
        raise DataError(f"{shape[0]:,} rows, but only {data.size:,} values")
    return _BUILDERS[kind](arrays, shape)


def _shape(given: NDArray[Any]) -> tuple[int, int]:
    shape = tuple(given.tolist()) if given.ndim == 1 and given.dtype.kind in "iu" else ()
    if len(shape) != 2 or not all(0 <= size < 2**31 for size in shape):
        raise DataError(f"the shape is {shape}; expected two numbers below 2,147,483,648")
    return shape


def _compressed(arrays: Arrays, shape: tuple[int, int]) -> Any:
    check_rows(arrays["indptr"], arrays["indices"], len(arrays["data"]), shape)
    return sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)


def _by_column(arrays: Arrays, shape: tuple[int, int]) -> Any:
    return _compressed(arrays, (shape[1], shape[0])).T.tocsr()


def _of_blocks(arrays: Arrays, shape: tuple[int, int]) -> Any:
    data = arrays["data"]
    tall, wide = data.shape[1:] if data.ndim == 3 else (0, 0)
    if not tall or not wide or shape[0] % tall or shape[1] % wide:
        raise DataError(f"blocks of shape {data.shape} in a matrix of shape {shape}")
    check_rows(arrays["indptr"], arrays["indices"], len(data), (shape[0] // tall, shape[1] // wide))
    return sp.bsr_array((data, arrays["indices"], arrays["indptr"]), shape=shape).tocsr()


def _by_place(arrays: Arrays, shape: tuple[int, int]) -> Any:
    row, column = arrays["row"], arrays["col"]
    for place, size in ((row, shape[0]), (column, shape[1])):
        check_rows(np.array([0, len(place)]), place, len(arrays["data"]), (1, size))
    return sp.coo_array((arrays["data"], (row, column)), shape=shape).tocsr()


def _of_diagonals(arrays: Arrays, shape: tuple[int, int]) -> Any:
    data, offsets = arrays["data"], arrays["offsets"]
    if data.ndim != 2 or len(offsets) != len(data) or len(np.unique(offsets)) != len(offsets):
        raise DataError(f"{len(offsets)} diagonals for values of shape {data.shape}")
    check_rows(np.array([0, len(offsets)]), offsets + shape[0], len(data), (1, sum(shape)))
    return sp.dia_array((data, offsets), shape=shape).tocsr()


_BUILDERS = {"csr": _compressed, "csc": _by_column, "bsr": _of_blocks, "coo": _by_place, "dia": _of_diagonals}
