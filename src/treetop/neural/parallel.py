"""More than one process (`torchrun`): who am I, and sums of gradients over everyone, sparse rows included.

Every process computes the gradient of its share of a step's texts, weighted by the share's size, and the shares are
summed: N processes take the same steps as one. The world is a value that is passed, never reached for. If one of them
ends before the others, they end with one line that says so; if they do not do the same, with one that names who.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.errors import ConfigError, ProcessError
from treetop.neural.full_head import FullHead
from treetop.runtime import Runtime, processes

__all__ = ["World", "world_of"]

BUCKET = 1 << 23
"""Numbers summed in one message: 32 MB."""
PATIENCE = timedelta(days=7)
"""How long a process waits for another that is alive and busy. One that is gone is noticed at once."""


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
        parameters = list(parameters)
        dense: list[nn.Parameter] = []
        with self._talking():
            for head in heads:
                head.gather(self.rows_of_all)
            for parameter, kind in zip(parameters, self._kinds(parameters), strict=True):
                if kind == _ROWS:
                    parameter.grad = self._gather_rows(parameter)
                elif kind == _DENSE:
                    dense.append(parameter)
        with self._talking():
            for bucket in _buckets(dense):
                self._sum_dense(bucket)

    def rows_of_all(self, own: Tensor) -> Tensor:
        """The rows that each process has, one process after the other; each is sent as long as it is."""
        counts = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(counts, torch.tensor([len(own)]))
        return self._gather_pieces(own, [int(count) for count in counts])

    def shapes(self, own: Tensor) -> tuple[list[int], list[int]]:
        """How many rows the matrix of each process has, and how many columns."""
        everyone = [torch.zeros(2, dtype=torch.int64) for _ in range(self.size)]
        with self._talking():
            dist.all_gather(everyone, torch.tensor(own.shape))
        return [int(shape[0]) for shape in everyone], [int(shape[1]) for shape in everyone]

    def pieces(self, own: Tensor, sizes: list[int]) -> Tensor:
        """The rows that each process has, where all know how many these are."""
        with self._talking():
            return self._gather_pieces(own, sizes)

    def summed(self, tensor: Tensor, sizes: list[int] | None = None) -> Tensor:
        """The sum over the processes; with sizes each keeps its own of so many rows."""
        if self.size == 1:
            return tensor
        whole = tensor.clone(memory_format=torch.contiguous_format)
        with self._talking():
            dist.all_reduce(whole)
        return whole if sizes is None else torch.split(whole, sizes)[self.rank]

    def to_leader(self, own: Tensor, sizes: list[int]) -> Tensor:
        """The rows of all processes in the memory of the leading one; another one gives its own and has nothing."""
        own = own.detach().cpu().contiguous()
        with self._talking():
            if not self.is_leader:
                dist.send(own, 0)
                return own.new_empty(0)
            whole = own.new_empty(sum(sizes), *own.shape[1:])
            for rank, piece in enumerate(torch.split(whole, sizes)):
                if rank == 0:
                    piece.copy_(own)
                else:
                    dist.recv(piece, rank)
        return whole

    def agree(self, value: float) -> float:
        """The value that the leading process has."""
        if self.size == 1:
            return value
        message = torch.tensor([value], dtype=torch.float64)
        with self._talking():
            dist.broadcast(message, 0)
        return float(message)

    def total(self, value: float, step: int = 0) -> float:
        """The sum of a number over the processes, which must all be at the same step."""
        if self.size == 1:
            return value
        own = torch.tensor([value, float(step)], dtype=torch.float64)
        everyone = [torch.empty_like(own) for _ in range(self.size)]
        with self._talking():
            dist.all_gather(everyone, own)
        self._check_alike("step", [str(int(other[1])) for other in everyone])
        return float(sum(float(other[0]) for other in everyone))

    def tell(self, value: Any) -> Any:
        """The value of the leading process, of any kind."""
        if self.size == 1:
            return value
        message = [value]
        with self._talking():
            dist.broadcast_object_list(message, 0, device=torch.device("cpu"))
        return message[0]

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, by rank."""
        if self.size == 1:
            return [value]
        everyone: list[Any] = [None] * self.size
        with self._talking():
            dist.all_gather_object(everyone, value)
        return everyone

    def check_same(self, values: Mapping[str, Any]) -> None:
        """Refuse to go on if the processes were given different settings or data."""
        if self.size == 1:
            return
        everyone = self.gather({name: str(value) for name, value in values.items()})
        for name in values:
            self._check_alike(name, [other.get(name, "nothing") for other in everyone])

    def _check_alike(self, what: str, values: list[str]) -> None:
        for rank, value in enumerate(values):
            if value != values[0]:
                raise ConfigError(
                    f"the {self.size} processes differ in their {what}: process 0 has {values[0]}, process {rank} has "
                    f"{value}; start all with the same command, data and version"
                )

    @contextmanager
    def _talking(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            first = (str(error).strip().splitlines() or [""])[0][:200]
            raise ProcessError(
                f"process {self.rank} of {self.size} lost another one ({first}), whose own message says why; "
                "the same command with --resume continues from the last checkpoint"
            ) from error

    def share_weights(self, module: nn.Module) -> None:
        """Give every process the weights of the leading one."""
        if self.size > 1:
            with self._talking():
                for tensor in [*module.parameters(), *module.buffers()]:
                    dist.broadcast(tensor.data, 0)

    def wait(self) -> None:
        """Until everyone is here."""
        if self.size > 1:
            self.total(0.0)  # a barrier of nccl would wait on GPUs

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
        rows, values = self.rows_of_all(own._indices()[0]), self.rows_of_all(own._values())
        return torch.sparse_coo_tensor(rows[None], values, parameter.shape, check_invariants=False).coalesce()

    def _gather_pieces(self, own: Tensor, sizes: list[int]) -> Tensor:
        """The pieces of all processes below each other; each is sent as long as it is."""
        whole = own.new_empty(sum(sizes), *own.shape[1:])
        for rank, piece in enumerate(torch.split(whole, sizes)):
            if rank == self.rank:
                piece.copy_(own)
            if len(piece):
                dist.broadcast(piece, rank)
        return whole


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
    if processes() == 1 or not dist.is_available():
        return World()
    if runtime.device.startswith("cuda"):
        torch.cuda.set_device(runtime.device)
    if not dist.is_initialized():
        kinds = "cpu:gloo,cuda:nccl" if runtime.device.startswith("cuda") else "gloo"
        dist.init_process_group(kinds, timeout=PATIENCE)
        atexit.register(_leave)
    return World(dist.get_rank(), dist.get_world_size())


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()
