"""Tokens in, states out: what every way to run an encoder has in common, as long as nothing learns.

A reader gives a row of numbers per piece of text: the states after one or more layers of an encoder, pooled and side by
side. Pieces of a long text are averaged here, so that an engine sees nothing but a batch of tokens.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from treetop.runtime import Runtime
from treetop.text.tokens import Padded, Tokens, batches_by_length
from treetop.types import Dense

__all__ = ["Reader", "read_states"]


class Reader(Protocol):
    """An encoder that learns nothing, run by some engine."""

    @property
    def name(self) -> str:
        """Of the engine, as in `encoder.reader`."""

    @property
    def width(self) -> int:
        """Numbers per text: those of all layers that are read."""

    @property
    def budget(self) -> int:
        """Padded tokens per batch at which the engine is quickest."""

    def read(self, batch: Padded) -> Dense:
        """The states of each piece: (pieces, width)."""


def read_states(reader: Reader, tokens: Tokens, runtime: Runtime) -> Dense:
    """The states of all texts: (texts, width)."""
    result = np.empty((len(tokens), reader.width), np.float32)
    with runtime.bar("embed", len(tokens)) as advance:
        for rows in batches_by_length(tokens, reader.budget):
            batch = tokens.pad(rows)
            result[rows] = _mean_of_pieces(reader.read(batch), batch)
            advance(len(rows))
    return result


def _mean_of_pieces(states: Dense, batch: Padded) -> Dense:
    """One row per text; the pieces of a text follow one another, and every text has at least one."""
    if batch.owner is None:
        return states
    starts = np.flatnonzero(np.diff(batch.owner, prepend=-1))
    pieces = np.bincount(batch.owner, minlength=batch.texts)[:, None]
    return np.asarray(np.add.reduceat(states, starts) / pieces, np.float32)
