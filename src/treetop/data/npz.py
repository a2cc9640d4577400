"""Sparse matrices as scipy saves them (`scipy.sparse.save_npz`): `X.trn.npz` (features) and `Y.trn.npz` (labels)."""

from __future__ import annotations

import zipfile
from pathlib import Path

from scipy import sparse as sp

from treetop.data.lines import Place
from treetop.data.matrices import check_values, without_zeros
from treetop.errors import DataError
from treetop.sparse import canonical
from treetop.types import CSR

__all__ = ["read_features", "read_labels"]


def read_features(path: Path) -> CSR:
    """A matrix texts × features."""
    features = _loaded(path)
    with Place(path):
        check_values(features, "the features")
    return features


def read_labels(path: Path) -> CSR:
    """A matrix texts × labels; its values are relevances, and a stored zero is no label."""
    labels = _loaded(path)
    with Place(path):
        check_values(labels, "the labels")
    return without_zeros(labels)


def _loaded(path: Path) -> CSR:
    try:
        return canonical(sp.load_npz(path))
    except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = "save it with scipy.sparse.save_npz"
        raise DataError(f"not a sparse matrix in scipy's npz format ({reason}); {hint}", path=path) from None
