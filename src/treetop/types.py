"""The few type aliases that every layer shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["CSR", "Dense", "Features", "Floats", "Ids", "Texts"]

CSR: TypeAlias = csr_array
"""One row per text (or label): float32 values, sorted int32 columns. See `sparse.canonical`."""

Dense: TypeAlias = NDArray[np.float32]
"""A float32 matrix, one row per text or label, C-contiguous."""

Features: TypeAlias = CSR | Dense
"""What a text or a label looks like to a learner. Both at once is `sparse.Joined`."""

Ids: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float32]
Texts: TypeAlias = Sequence[str]
