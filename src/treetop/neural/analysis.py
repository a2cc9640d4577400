"""What happens inside a fine-tuned encoder: the analyses of CascadeXML's appendix B, as numbers.

- `shortlist_recall`: the share of a text's true nodes that search keeps at a level (Table 11).
- `pooled_attention`: how much the pooled token attends to itself (Figure 2: a token that mostly copies itself from
  layer to layer cannot serve levels that need different features), and the entropy of its attention (Figure 3).
- `pwcca`, `layer_similarity`: how much of one representation is a linear function of another (Figure 4).

PWCCA (Morcos, Raghu, Bengio: Insights on representational similarity, NeurIPS 2018): for centred X and Y (a row per
text) with canonical correlations ρ_i and canonical directions h_i of X (length one, over the texts),

    PWCCA(X, Y) = Σ_i α_i ρ_i / Σ_i α_i,     α_i = Σ_j |<h_i, x_j>|  over the columns x_j of X.

It is 1 if X is a linear function of Y, and does not change under invertible linear maps of Y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treetop.errors import DataError
from treetop.runtime import Runtime
from treetop.sparse import binarise
from treetop.text.encoder import TextEncoder
from treetop.text.threads import threads
from treetop.text.tokens import Tokens, batches_by_length
from treetop.types import CSR

__all__ = ["PooledAttention", "layer_similarity", "layer_states", "pooled_attention", "pwcca", "shortlist_recall"]

_NEGLIGIBLE = 1e-6  # Directions with less than this share of the largest singular value are noise of float32.


@dataclass(frozen=True, slots=True)
class PooledAttention:
    """The attention of the pooled token, averaged over texts: arrays of (layers, heads)."""

    to_itself: NDArray[np.float64]
    """Attention of the pooled token to itself in the layer before, from 0 to 1."""
    entropy: NDArray[np.float64]
    """-Σ a·ln a over the tokens; 0 if one token gets everything, ln n if n tokens get the same."""


def shortlist_recall(true: CSR, kept: CSR) -> float:
    """The mean over texts of the share of true nodes that are kept; texts without true nodes do not count."""
    if true.shape != kept.shape:
        raise DataError(f"true nodes of shape {true.shape} and kept nodes of shape {kept.shape}; they must be equal")
    sizes = np.diff(true.indptr)
    hits = np.asarray(binarise(true).multiply(binarise(kept)).sum(axis=1)).ravel()
    return float((hits[sizes > 0] / sizes[sizes > 0]).mean()) if np.any(sizes) else 1.0


@torch.no_grad()
def pooled_attention(encoder: TextEncoder, tokens: Tokens, runtime: Runtime) -> PooledAttention:
    """Where the pooled token of each layer looks; chunks of a long text count as texts of their own."""
    itself: Tensor | float = 0.0
    entropy: Tensor | float = 0.0
    pieces = 0
    with runtime.bar("attention", len(tokens)) as advance, threads(runtime):
        for rows in batches_by_length(tokens):
            attention, place = encoder.pooled_attention(tokens.pad(rows))
            share = attention.double()
            itself = itself + share[:, torch.arange(len(place)), :, place].sum(0)
            entropy = entropy - torch.special.xlogy(share, share).sum(-1).sum(1)
            pieces += len(place)
            advance(len(rows))
    if not pieces:
        raise DataError("there are no texts to look at; give at least one")
    return PooledAttention(*(np.asarray(torch.as_tensor(total).cpu()) / pieces for total in (itself, entropy)))


@torch.no_grad()
def layer_states(encoder: TextEncoder, tokens: Tokens, runtime: Runtime) -> NDArray[np.float32]:
    """The state of every text after every layer, the input included: (layers + 1, texts, width)."""
    result = np.empty((encoder.layers + 1, len(tokens), encoder.width), np.float32)
    was_training = encoder.training
    encoder.eval()
    with runtime.bar("states", len(tokens)) as advance, threads(runtime):
        for rows in batches_by_length(tokens):
            result[:, rows] = encoder(tokens.pad(rows), range(encoder.layers + 1)).float().cpu().numpy()
            advance(len(rows))
    encoder.train(was_training)
    return result


def pwcca(x: NDArray[np.floating], y: NDArray[np.floating]) -> float:
    """The similarity of two representations of the same texts, from 0 to 1; see the head of this file."""
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise DataError(f"representations of shapes {x.shape} and {y.shape}; give two matrices with a row per text")
    return _alike(_Spanned.of(x), _Spanned.of(y))


def layer_similarity(states: NDArray[np.float32], runtime: Runtime) -> NDArray[np.float64]:
    """PWCCA of every layer (row) with every layer (column), from states of (layers, texts, width)."""
    with threads(runtime), runtime.bar("likeness of layers", len(states)) as advance:
        layers = [_Spanned.of(layer) for layer in states]
        rows = []
        for one in layers:
            rows.append([_alike(one, other) for other in layers])
            advance()
    return np.array(rows)


@dataclass(frozen=True, slots=True)
class _Spanned:
    """A representation without its mean, and orthonormal directions over the texts that span its columns."""

    centred: Tensor
    basis: Tensor

    @classmethod
    def of(cls, x: NDArray[np.floating]) -> _Spanned:
        texts, width = x.shape
        if texts <= width:
            raise DataError(
                f"{texts} texts cannot tell representations of {width} numbers apart; give several times more"
            )
        centred = torch.from_numpy(np.asarray(x - x.mean(0), np.float64))
        directions, size, _ = torch.linalg.svd(centred, full_matrices=False)
        largest = max(float(size.max()) if len(size) else 0.0, 1e-30)
        return cls(centred, directions[:, size > _NEGLIGIBLE * largest])


def _alike(x: _Spanned, y: _Spanned) -> float:
    if not x.basis.shape[1] or not y.basis.shape[1]:
        return 0.0
    rotation, correlation, _ = torch.linalg.svd(x.basis.T @ y.basis, full_matrices=False)
    weight = ((x.basis @ rotation).T @ x.centred).abs().sum(1)
    return float(correlation.clamp(0, 1) @ weight / weight.sum())
