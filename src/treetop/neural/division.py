"""Heads whose rows are divided over the processes: for label sets that are too many for one, and because it says less.

Every process has a run of the rows, with their moments. The states of all texts of a step and the nodes on their
shortlists go to everyone; each scores the nodes whose rows it has, and the logits are added up.

    forward     states, shortlists → all      logits of own rows      their sum → whose text it is
    backward    gradients of logits → all     gradients of own rows   sum of those of states → whose text it is

So a step exchanges some numbers per text and shortlisted node, where whole heads exchange the gradients of all rows
that any text touches. Weights are whole before and after a training, and the same as without a division.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.neural.parallel import World
from treetop.neural.scorer import NodeScorer
from treetop.store import Late

__all__ = ["Divided", "Division", "divide"]

Score = Callable[[Tensor, Tensor], Tensor]


class Division:
    """How the rows of a head are divided, and which are this process's."""

    def __init__(self, world: World, rows: int) -> None:
        self.world, self.rows = world, rows
        bounds = [rows * rank // world.size for rank in range(world.size + 1)]
        self.sizes = [stop - start for start, stop in pairwise(bounds)]
        self.own = slice(bounds[world.rank], bounds[world.rank + 1])

    def logits(self, states: Tensor, shortlist: Tensor, score: Score) -> Tensor:
        """The logits of this process's texts, of which `score` gives those of own rows for the texts of all."""
        texts, widths = self.world.shapes(shortlist)
        places = max(widths)
        states = _Spread.apply(states, self.world, texts)  # type: ignore[no-untyped-call]
        wide = nn.functional.pad(shortlist, (0, places - shortlist.shape[1]), value=-1)
        nodes = self.world.pieces(wide.int(), texts).long()
        nodes = (nodes - self.own.start).masked_fill_((nodes < self.own.start) | (nodes >= self.own.stop), -1)
        logits = score(states, nodes).masked_fill(nodes < 0, 0.0)
        own: Tensor = _Collect.apply(logits, self.world, texts)  # type: ignore[no-untyped-call]
        return own[:, : shortlist.shape[1]].masked_fill(shortlist < 0, -torch.inf)

    def late(self, own: Tensor) -> Late:
        """All rows, for a file that the leading process writes: when it asks for them, the others hand theirs over."""
        kind = torch.empty(0, dtype=own.dtype).numpy().dtype
        return Late(kind, (self.rows, *own.shape[1:]), lambda: self.world.to_leader(own, self.sizes).numpy())


class Divided:
    """The heads of a module while they are divided; without any, nothing is changed and everything is whole.

    `join` gives every process all rows, in the memory of the machine: those of a head that was divided may be too many
    for an accelerator.
    """

    def __init__(self, scorers: Mapping[str, NodeScorer], world: World) -> None:
        self._scorers = list(scorers.values())
        self._divisions: dict[str, Division] = {}
        self.parameters: dict[str, nn.Parameter] = {}
        for prefix, scorer in scorers.items():
            scorer.division = Division(world, scorer.nodes)
            for name, parameter in scorer.named_parameters(prefix, recurse=False):
                self.parameters[name], self._divisions[name] = parameter, scorer.division
                parameter.data = parameter.data[scorer.division.own].clone()

    def __bool__(self) -> bool:
        return bool(self.parameters)

    def late(self, name: str, tensor: Tensor) -> Tensor | Late:
        """All rows of a parameter, its moments or its average, for a file; anything else as it is."""
        division = self._divisions.get(name)
        return tensor if division is None or not self._has_rows(name, tensor) else division.late(tensor)

    def own(self, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Of what a file has of all rows, those of this process."""
        division = self._divisions.get(name)
        return rows if division is None or not self._has_rows(name, rows) else rows[division.own]

    def _has_rows(self, name: str, rows: Tensor | NDArray[Any]) -> bool:
        """Not so the decay that is `owed`, a number in 64 bits."""
        return rows.ndim > 0 and rows.itemsize == self.parameters[name].itemsize

    def join(self) -> None:
        """End the division."""
        for name, parameter in self.parameters.items():
            division = self._divisions[name]
            parameter.data = division.world.pieces(parameter.data.cpu(), division.sizes)
        for scorer in self._scorers:
            scorer.division = None

    @contextmanager
    def joined(self) -> Iterator[None]:
        """For the time of a block, all rows in every process."""
        before = [(scorer, scorer.division) for scorer in self._scorers]
        rows = {name: parameter.data for name, parameter in self.parameters.items()}
        self.join()
        try:
            yield
        finally:
            for name, parameter in self.parameters.items():
                parameter.data = rows[name]
            for scorer, division in before:
                scorer.division = division


def divide(module: nn.Module, world: World, wanted: bool) -> Divided:
    """Divide the heads of a module that touch only some of their rows at a step, where there are several processes."""
    scorers = {name: part for name, part in module.named_modules() if isinstance(part, NodeScorer)}
    heads = {name: scorer for name, scorer in scorers.items() if scorer.by_rows}
    return Divided(heads if wanted and world.size > 1 else {}, world)


class _Spread(torch.autograd.Function):
    """The rows of all processes; gradients are summed, and each process keeps those of its own."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, world: World, sizes: list[int]) -> Tensor:
        """One process after the other."""
        ctx.world, ctx.sizes = world, sizes
        return world.pieces(own.contiguous(), sizes)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """As `_Collect` goes forward."""
        return ctx.world.summed(gradients[0], ctx.sizes), None, None


class _Collect(torch.autograd.Function):
    """The sum over the processes, of which each keeps its own rows; gradients go to all."""

    @staticmethod
    def forward(ctx: Any, all_rows: Tensor, world: World, sizes: list[int]) -> Tensor:
        """Of rows that are for one process after the other."""
        ctx.world, ctx.sizes = world, sizes
        return world.summed(all_rows, sizes)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """As `_Spread` goes forward."""
        return ctx.world.pieces(gradients[0].contiguous(), ctx.sizes), None, None
