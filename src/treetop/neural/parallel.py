"""More than one process (`torchrun`): who am I, and sums of gradients over everyone, sparse rows included.

Every process computes the gradient of its share of a batch, weighted by the share's size, and the shares are summed.
The result is the gradient of the whole batch, so N processes with batches of B take the same steps as one process with
batches of N·B. The world is a value that is passed, never reached for.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.neural.full_head import FullHead
from treetop.runtime import Runtime

__all__ = ["World", "world_of"]

BUCKET = 1 << 23
"""Numbers summed in one message: 32 MB."""


@dataclass(frozen=True, slots=True)
class World:
    """The processes that train together; alone: rank 0 of 1."""

    rank: int = 0
    size: int = 1

    @property
    def is_leader(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def share(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part of a batch that is for this process."""
        return rows[self.rank :: self.size]

    def sum_gradients(self, parameters: Iterable[nn.Parameter], heads: Sequence[FullHead] = ()) -> None:
        """Replace every gradient by its sum over the processes; full heads exchange what they keep instead."""
        if self.size == 1:
            return
        for head in heads:
            head.gather(self.rows_of_all)
        parameters = list(parameters)
        dense: list[nn.Parameter] = []
        for parameter, kind in zip(parameters, self._kinds(parameters), strict=True):
            if kind == _ROWS:
                parameter.grad = self._gather_rows(parameter)
            elif kind == _DENSE:
                dense.append(parameter)
        for bucket in _buckets(dense):
            self._sum_dense(bucket)

    def rows_of_all(self, own: Tensor) -> Tensor:
        """The rows that each process has, one process after the other."""
        counts = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(counts, torch.tensor([len(own)]))
        everyone = self._gather_padded(own, max(int(count) for count in counts))
        return torch.cat([rows[: int(count)] for rows, count in zip(everyone, counts, strict=True)])

    def agree(self, value: float) -> float:
        """The value that the leading process has."""
        if self.size == 1:
            return value
        message = torch.tensor([value], dtype=torch.float64)
        dist.broadcast(message, 0)
        return float(message)

    def total(self, value: float) -> float:
        """The sum of a number over the processes."""
        if self.size == 1:
            return value
        message = torch.tensor([value], dtype=torch.float64)
        dist.all_reduce(message)
        return float(message)

    def share_weights(self, module: nn.Module) -> None:
        """Give every process the weights of the leading one."""
        if self.size > 1:
            for tensor in [*module.parameters(), *module.buffers()]:
                dist.broadcast(tensor.data, 0)

    def wait(self) -> None:
        """Until everyone is here."""
        if self.size > 1:
            dist.barrier()

    def _kinds(self, parameters: list[nn.Parameter]) -> list[int]:
        """No gradient, rows, or dense, for each parameter: the fullest kind that any process has."""
        kinds = [_NONE if p.grad is None else _ROWS if p.grad.is_sparse else _DENSE for p in parameters]
        message = torch.tensor(kinds, dtype=torch.int64)
        dist.all_reduce(message, dist.ReduceOp.MAX)
        agreed: list[int] = message.tolist()
        return agreed

    def _sum_dense(self, bucket: list[nn.Parameter]) -> None:
        parts = [_dense_gradient(p) for p in bucket]
        flat = torch.cat([part.reshape(-1) for part in parts])
        dist.all_reduce(flat)
        for parameter, part in zip(bucket, torch.split(flat, [part.numel() for part in parts]), strict=True):
            parameter.grad = part.view_as(parameter)

    def _gather_rows(self, parameter: nn.Parameter) -> Tensor:
        """The rows that any process has a gradient for; rows of several are summed."""
        own = _row_gradient(parameter)
        rows, values = own._indices()[0], own._values()
        counts = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(counts, torch.tensor([len(rows)]))
        most = max(int(count) for count in counts)
        everyone_rows = self._gather_padded(rows, most)
        everyone_values = self._gather_padded(values, most)
        rows = torch.cat([r[: int(c)] for r, c in zip(everyone_rows, counts, strict=True)])
        values = torch.cat([v[: int(c)] for v, c in zip(everyone_values, counts, strict=True)])
        return torch.sparse_coo_tensor(rows[None], values, parameter.shape, check_invariants=False).coalesce()

    def _gather_padded(self, own: Tensor, most: int) -> list[Tensor]:
        padded = own.new_zeros(most, *own.shape[1:])
        padded[: len(own)] = own
        everyone = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(everyone, padded)
        return everyone


_NONE, _ROWS, _DENSE = range(3)


def _dense_gradient(parameter: nn.Parameter) -> Tensor:
    gradient = parameter.grad
    if gradient is None:
        return torch.zeros_like(parameter)
    return gradient.to_dense() if gradient.is_sparse else gradient


def _row_gradient(parameter: nn.Parameter) -> Tensor:
    if parameter.grad is not None:
        return parameter.grad.coalesce()
    rows = torch.empty(1, 0, dtype=torch.int64, device=parameter.device)
    return torch.sparse_coo_tensor(
        rows, parameter.new_empty(0, *parameter.shape[1:]), parameter.shape, is_coalesced=True, check_invariants=False
    )


def _buckets(parameters: list[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    bucket: list[nn.Parameter] = []
    for parameter in parameters:
        bucket.append(parameter)
        if sum(p.numel() for p in bucket) >= BUCKET:
            yield bucket
            bucket = []
    if bucket:
        yield bucket


def world_of(runtime: Runtime) -> World:
    """The processes started by `torchrun`, or this one alone.

    The group is joined once and left when the process ends: a method may train several times, and processes that join
    a second time can find the addresses of the first. Numbers travel by gloo, gradients on a GPU by nccl.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or not dist.is_available():
        return World()
    if runtime.device.startswith("cuda"):
        torch.cuda.set_device(runtime.device)
    if not dist.is_initialized():
        dist.init_process_group("cpu:gloo,cuda:nccl" if runtime.device.startswith("cuda") else "gloo")
        atexit.register(_leave)
    return World(dist.get_rank(), dist.get_world_size())


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()
