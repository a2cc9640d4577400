"""Examples: tokens and true nodes, dealt out in batches of similar length.

The order of an epoch depends only on the seed and the number of the epoch, so that a resumed run continues with the
very batches an uninterrupted one would have seen, and so that processes that train together agree without talking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treetop.errors import DataError
from treetop.neural.shortlist import EMPTY
from treetop.text.tokens import Padded, Tokens
from treetop.types import CSR

__all__ = ["Batch", "Examples", "Nodes", "padded_rows"]

WINDOW = 32
"""Steps whose texts are sorted by length together; more would pad less but mix less."""
JITTER = 0.15
"""Lengths are sorted with this much noise, so that texts of one length do not meet the same others in every epoch."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Some nodes of one level for each text, as padded tensors (texts, places); -1 in empty places."""

    ids: Tensor
    values: Tensor

    def to(self, device: torch.device | str) -> Nodes:
        """The same on another device."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def pinned(self) -> Nodes:
        """The same in memory that an accelerator reads while others compute."""
        return self._each(_pinned)

    def _each(self, change: Callable[[Tensor], Tensor]) -> Nodes:
        return Nodes(change(self.ids), change(self.values))


@dataclass(frozen=True, slots=True)
class Batch:
    """What a loss sees: padded tokens, the true nodes of each level, and the shortlist if that is fixed."""

    rows: NDArray[np.int64]
    """The texts, as row numbers of the examples."""
    tokens: Padded
    true: tuple[Nodes, ...]
    shortlist: Nodes | None
    """Shortlisted nodes, or nodes whose children are: as the network reads them."""

    def to(self, device: torch.device | str) -> Batch:
        """The same on another device; tokens that are not pinned are moved by the encoder."""
        sent = self.tokens.sent
        if sent is not None:
            sent = {name: tensor.to(device, non_blocking=True) for name, tensor in sent.items()}
        return self._with(replace(self.tokens, sent=sent), lambda nodes: nodes.to(device))

    def pinned(self) -> Batch:
        """The same in memory that an accelerator reads while others compute."""
        arrays = {name: getattr(self.tokens, name) for name in ("ids", "mask", "types", "owner", "states")}
        sent = {name: _pinned(torch.from_numpy(array)) for name, array in arrays.items() if array is not None}
        return self._with(replace(self.tokens, sent=sent), Nodes.pinned)

    def _with(self, tokens: Padded, change: Callable[[Nodes], Nodes]) -> Batch:
        shortlist = None if self.shortlist is None else change(self.shortlist)
        return Batch(self.rows, tokens, tuple(map(change, self.true)), shortlist)

    def __len__(self) -> int:
        return len(self.rows)


class Examples:
    """Texts with their true nodes at one or more levels, and optionally a fixed shortlist."""

    def __init__(self, tokens: Tokens, true: Sequence[CSR], shortlist: CSR | None = None) -> None:
        for matrix in (*true, *([] if shortlist is None else [shortlist])):
            if matrix.shape[0] != len(tokens):
                raise DataError(f"{len(tokens)} texts, but a matrix of {matrix.shape[0]} rows; give one row per text")
        if len(tokens) == 0:
            raise DataError("there are no texts to learn from; give at least one")
        self.tokens, self.true, self.shortlist = tokens, tuple(true), shortlist

    def __len__(self) -> int:
        return len(self.tokens)

    def digest(self) -> str:
        """A word for the tokens and the true nodes."""
        digest = hashlib.blake2b(digest_size=8)
        for array in (self.tokens.ids, self.tokens.ptr, *(matrix.indices for matrix in self.true)):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def steps_per_epoch(self, texts_per_step: int) -> int:
        """Optimiser steps of one pass."""
        return -(-len(self) // texts_per_step)

    def order(self, epoch: int, texts_per_step: int, seed: int) -> list[NDArray[np.int64]]:
        """The texts of every step of an epoch: random, but of similar length within a step."""
        rng = np.random.default_rng([seed, 1, epoch])
        rows = rng.permutation(len(self))
        length = self.tokens.lengths() * (1 + JITTER * rng.random(len(self)))
        steps = []
        for start in range(0, len(rows), WINDOW * texts_per_step):
            window = rows[start : start + WINDOW * texts_per_step]
            window = window[np.argsort(length[window], kind="stable")]
            steps += [window[i : i + texts_per_step] for i in range(0, len(window), texts_per_step)]
        return [steps[i] for i in rng.permutation(len(steps))]

    def batch(self, rows: NDArray[np.int64], limit: int | None = None) -> Batch:
        """The given texts, cut to `limit` tokens."""
        true = tuple(padded_rows(matrix, rows) for matrix in self.true)
        shortlist = None if self.shortlist is None else padded_rows(self.shortlist, rows)
        return Batch(rows, self.tokens.pad(rows, limit), true, shortlist)


def _pinned(tensor: Tensor) -> Tensor:
    return tensor.pin_memory() if torch.cuda.is_available() else tensor


def padded_rows(matrix: CSR, rows: NDArray[Any]) -> Nodes:
    """Rows of a sparse matrix as padded tensors of columns and values."""
    start = matrix.indptr[rows].astype(np.int64)
    size = matrix.indptr[rows + 1] - start
    place = np.arange(int(size.max(initial=0)))
    real = place < size[:, None]
    position = np.where(real, start[:, None] + place, 0)
    if matrix.nnz == 0:
        return Nodes(torch.full(position.shape, EMPTY), torch.zeros(position.shape))
    ids = np.where(real, matrix.indices[position], EMPTY).astype(np.int64)
    values = np.where(real, matrix.data[position], 0).astype(np.float32)
    return Nodes(torch.from_numpy(ids), torch.from_numpy(values))
