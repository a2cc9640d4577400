"""One level of a network after its training: a dense row of weights per node, applied without the network's library.

    margin(text, node) = <h, w_node> + b_node,     h = the text's state, or a linear map of it (LightXML, eq. 4)

As a `LinearLevel` it gives node scores; here they are margins, for who asks to put through a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treetop import kernels
from treetop.kernels import Mask
from treetop.runtime import Runtime
from treetop.sparse import canonical, from_parts
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["Affine", "DenseLevel", "log_link", "sigmoid"]


@dataclass(frozen=True, slots=True)
class Affine:
    """A linear map with an offset, and what follows it."""

    weight: Dense
    """Numbers out × numbers in."""
    offset: Floats
    squash: Literal["none", "sigmoid"] = "none"

    def __call__(self, states: Dense) -> Dense:
        """The image of each row."""
        found = states @ self.weight.T + self.offset
        return sigmoid(found) if self.squash == "sigmoid" else np.asarray(found, np.float32)


@dataclass(frozen=True, slots=True)
class DenseLevel:
    """The nodes of a level; the arrays may be mapped from a file, and are used where they are."""

    weight: Dense
    """Nodes × numbers of a state."""
    bias: Floats | None = None
    before: Affine | None = None
    """What states go through first: a bottleneck."""

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.weight)

    def best(self, states: Dense, k: int, runtime: Runtime, *, allowed: Mask | None = None) -> CSR:
        """The k nodes of the largest margins of each text and these (texts × nodes); ties go to the lower node."""
        found, margins = self.ranked(states, k, runtime, allowed=allowed)
        order = np.argsort(np.where(found < 0, self.nodes, found), axis=1, kind="stable")
        nodes, values = np.take_along_axis(found, order, 1), np.take_along_axis(margins, order, 1)
        real = nodes >= 0
        return from_parts(np.append(0, real.sum(1).cumsum()), nodes[real], values[real], columns=self.nodes)

    def ranked(
        self, states: Dense, k: int, runtime: Runtime, *, allowed: Mask | None = None
    ) -> tuple[Ids, NDArray[np.float32]]:
        """The same as ranked lists, best first (texts × k, -1 where there are fewer)."""
        h = states if self.before is None else self.before(states)
        return kernels.best_nodes(h, self.weight, self.bias, k, allowed=allowed, threads=runtime.cores)

    def at(self, states: Dense, shortlist: CSR, runtime: Runtime) -> CSR:
        """The margins of the shortlisted nodes, in the place of what the shortlist says of them."""
        h, shortlist = states if self.before is None else self.before(states), canonical(shortlist)
        margins = kernels.margins_at(h, self.weight, self.bias, shortlist, threads=runtime.cores)
        return from_parts(shortlist.indptr, shortlist.indices, margins, columns=self.nodes)


def sigmoid(margins: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 / (1 + exp(−g)), by numpy alone: scipy's special functions would take a tenth of a second to import."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-margins)), np.float32)


def log_link(margins: Floats, link: str) -> Floats:
    """The logarithm of a score: −max(0, 1 − g)^p for the lp-hinges, log σ(g) for "sigmoid"; g itself for "noop"."""
    if link == "noop":
        return margins
    if link == "sigmoid":
        return np.asarray(-np.logaddexp(0, -margins), np.float32)
    return np.asarray(-(np.maximum(1 - margins, 0) ** int(link[1])), np.float32)
