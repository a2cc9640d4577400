"""NodeScorer: one weight vector per node of a level, scoring all nodes or only the shortlist of each text.

    logit(text, node) = <h, w_node> + b_node,     h = the text's state, or its bottleneck A·h + a (LightXML, eq. 4)

Scoring shortlist touches only their rows, in both directions. Gathering the rows of 64 texts × 4,096 shortlist would
move 400 MB each way; instead the shortlist are the pattern of a sparse matrix S (texts × nodes), and

    forward     S.values = (H · Wᵀ) at the pattern       a sampled product: no row is copied
    backward    dH = dS · W,     dW[rows] = dSᵀ · H       `rows` = nodes that occur in the batch

so the gradient of W is a sparse tensor of those rows, which `RowAdamW` applies without visiting the others. Empty
places (-1) take no part and get the logit -inf; no padding row is stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from torch import Tensor, nn
from torch.nn import functional

from treetop.errors import ConfigError
from treetop.neural.touched import Touched
from treetop.text.devices import must_wait

__all__ = ["NodeScorer", "Scorer"]

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta", category=UserWarning)


class Scorer(nn.Module):
    """A weight vector for each node of a level, and a bias if there is one: where they begin."""

    weight: nn.Parameter
    bias: nn.Parameter | None

    @torch.no_grad()
    def expect(self, rate: NDArray[Any], loss: Literal["bce", "squared_hinge"] = "bce") -> None:
        """Start from the biases that are best without any state: how often each node is true where it is shortlisted.

        They are log(p / (1 − p)) under cross-entropy and 2p − 1 under the squared hinge. From zero, thousands of rare
        labels would first have to unlearn that they are as likely as not, which drowns everything else.
        """
        if self.bias is not None:
            p = torch.from_numpy(np.asarray(rate, np.float64)).clamp(1e-6, 0.5)
            self.bias.copy_(torch.logit(p) if loss == "bce" else 2 * p - 1)

    @torch.no_grad()
    def fill(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Start from the given rows instead of random ones, for example those of a linear solver."""
        self.weight.copy_(weight)
        if self.bias is not None and bias is not None:
            self.bias.copy_(bias)


class Division(Protocol):
    """Rows that several processes have a part of each; see `neural.division`."""

    def logits(self, states: Tensor, shortlist: Tensor, score: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Logits of the shortlist, of which `score` gives those of own rows."""


class NodeScorer(Scorer):
    """Scores of the nodes of one level; `bottleneck` > 0 projects the state to that width first.

    `by_rows=False` says that all nodes will be scored at every step, so that a dense optimiser is the better one.
    """

    def __init__(
        self,
        nodes: int,
        width: int,
        *,
        bias: bool = True,
        bottleneck: int = 0,
        squash: Literal["none", "sigmoid"] = "none",
        by_rows: bool = True,
    ) -> None:
        super().__init__()
        if nodes < 1 or width < 1 or bottleneck < 0:
            raise ConfigError(
                f"a scorer of {nodes} nodes × {width} with bottleneck {bottleneck}; sizes must be positive"
            )
        self.nodes = nodes
        self.squash, self.by_rows = squash, by_rows
        self.division: Division | None = None
        self.bottleneck = nn.Linear(width, bottleneck) if bottleneck else None
        self.weight = nn.Parameter(torch.empty(nodes, bottleneck or width))
        self.bias = nn.Parameter(torch.zeros(nodes)) if bias else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, states: Tensor, shortlist: Tensor | None = None, touched: Touched | None = None) -> Tensor:
        """Logits of all nodes (texts, nodes), or of the shortlist (texts, places) with -inf in empty places.

        Several scorers that learn from one batch share `touched`.
        """
        states = self.project(states)
        with torch.autocast(states.device.type, enabled=False):  # in 16 bits the best labels would all be as good
            if shortlist is None:
                return functional.linear(states.float(), self.weight, self.bias)
            touched = touched or Touched()

            def sampled(states: Tensor, shortlist: Tensor) -> Tensor:
                logits: Tensor = _Sampled.apply(states, self.weight, self.bias, shortlist, touched)  # type: ignore[no-untyped-call]
                return logits

            if self.division is None:
                return sampled(states.float(), shortlist)
            return self.division.logits(states.float(), shortlist, sampled)

    def project(self, states: Tensor) -> Tensor:
        """What the weights are multiplied with: the states themselves, or their bottleneck."""
        if self.bottleneck is None:
            return states
        projected: Tensor = self.bottleneck(states)
        return projected.sigmoid() if self.squash == "sigmoid" else projected

    def row_parameters(self) -> list[nn.Parameter]:
        """The parameters whose gradients cover only some rows: what a row-wise optimiser takes."""
        if not self.by_rows:
            return []
        return [self.weight] if self.bias is None else [self.weight, self.bias]


class _Sampled(torch.autograd.Function):
    """The product of states and weights at the shortlist, with gradients for the rows that occur."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None, shortlist: Tensor, touched: Touched
    ) -> Tensor:
        """Logits of the shortlist, -inf in empty places."""
        real, (entry, ptr) = shortlist >= 0, _entries(shortlist)
        node = shortlist.reshape(-1)[entry].clamp(min=0)
        pattern = _csr(ptr, node.int(), torch.zeros(len(node), device=states.device), len(weight))
        values = torch.sparse.sampled_addmm(pattern, states, weight.t(), beta=0.0).values()
        if bias is not None:
            values = values + bias[node]
        ctx.touched = touched
        ctx.note = touched.note(shortlist.reshape(-1)[entry], len(weight)) if ctx.needs_input_grad[1] else -1
        ctx.save_for_backward(states, weight, bias, real, entry, node, ptr)
        logits = states.new_full((shortlist.numel(),), -torch.inf)
        logits[entry] = values
        return logits.view(shortlist.shape).masked_fill_(~real, -torch.inf)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        """Gradients for states, weights and biases; the latter two for the rows that occur."""
        states, weight, bias, real, entry, node, ptr = ctx.saved_tensors
        values = gradients[0].masked_fill(~real, 0.0).reshape(-1)[entry]
        for_states = for_weight = for_bias = None
        if ctx.needs_input_grad[0]:
            for_states = _csr(ptr, node.int(), values, len(weight)) @ weight
        if ctx.needs_input_grad[1]:
            rows, places = ctx.touched.rows(ctx.note)
            place = places[node].clamp(min=0)
            for_weight = _rows(rows, _transposed(ptr, place, values, len(rows)) @ states, weight)
            if bias is not None:
                sums = torch.zeros(len(rows), device=values.device).index_add_(0, place, values)
                for_bias = _rows(rows, sums, bias)
        return for_states, for_weight, for_bias, None, None


def _entries(shortlist: Tensor) -> tuple[Tensor, Tensor]:
    """The places that are computed, and where each text's begin among them.

    On a CPU those that are not empty. To find these an accelerator would have to be waited for: there all are, and what
    empty ones give is thrown away.
    """
    texts, places = shortlist.shape
    if must_wait(shortlist):
        entry = torch.arange(texts * places, device=shortlist.device)
        ptr = torch.arange(texts + 1, device=shortlist.device, dtype=torch.int32) * places
        return entry, ptr
    real = shortlist >= 0
    return real.reshape(-1).nonzero()[:, 0], functional.pad(real.sum(1).cumsum(0), (1, 0)).int()


def _csr(ptr: Tensor, column: Tensor, values: Tensor, columns: int) -> Tensor:
    size = (len(ptr) - 1, columns)
    return torch.sparse_csr_tensor(ptr, column, values, size=size, check_invariants=False)


def _rows(rows: Tensor, values: Tensor, like: Tensor) -> Tensor:
    """A gradient of the given rows only, shaped like the whole parameter."""
    return torch.sparse_coo_tensor(rows[None], values, size=like.shape, is_coalesced=True, check_invariants=False)


def _transposed(ptr: Tensor, column: Tensor, values: Tensor, columns: int) -> Tensor:
    """The transpose of a CSR matrix as CSR. On the CPU scipy's counting sort is 20 times faster than torch's sort."""
    texts = len(ptr) - 1
    if values.device.type == "cpu":
        parts = (values.detach().numpy(), column.int().numpy(), ptr.numpy())
        flipped = csc_array(csr_array(parts, shape=(texts, columns)))
        ptr, column, values = (torch.from_numpy(x) for x in (flipped.indptr, flipped.indices, flipped.data))
        return _csr(ptr, column, values, texts)
    order = column.argsort(stable=True)
    text = torch.arange(texts, device=ptr.device).repeat_interleave(ptr.diff())
    flipped_ptr = functional.pad(torch.bincount(column, minlength=columns).cumsum(0), (1, 0)).int()
    return _csr(flipped_ptr, text[order].int(), values[order], texts)
