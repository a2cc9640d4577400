"""The world of one process and the messages; that two processes equal one is in test_training.py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import torch.distributed as dist

from treetop.errors import ConfigError, ProcessError
from treetop.neural.parallel import World, _buckets, world_of
from treetop.runtime import Runtime


@pytest.fixture
def group() -> Iterator[None]:
    """A group of one, over which the real messages travel."""
    store = dist.HashStore()  # type: ignore[attr-defined]
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_shares_are_a_partition() -> None:
    rows = np.arange(11)
    shares = [World(rank, 3).share(rows) for rank in range(3)]
    assert sorted(np.concatenate(shares).tolist()) == rows.tolist()
    assert [len(share) for share in shares] == [4, 4, 3]


def test_alone_nothing_is_sent() -> None:
    world = world_of(Runtime())
    assert (world.rank, world.size, world.is_leader) == (0, 1, True)
    assert world.agree(3.5) == world.total(3.5) == 3.5
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    world.sum_gradients([weight])
    assert weight.grad.tolist() == [1.0, 1.0]
    world.wait()


@pytest.mark.usefixtures("group")
def test_rows_of_several_are_summed() -> None:
    weight = torch.nn.Parameter(torch.zeros(5, 2))
    weight.grad = torch.sparse_coo_tensor(torch.tensor([[4, 1, 4]]), torch.ones(3, 2), (5, 2), check_invariants=False)
    gathered = World(0, 1)._gather_rows(weight)
    assert gathered._indices()[0].tolist() == [1, 4]
    assert gathered._values().tolist() == [[1, 1], [2, 2]]
    weight.grad = None
    assert World(0, 1)._gather_rows(weight)._nnz() == 0


@pytest.mark.usefixtures("group")
def test_rows_are_sent_as_long_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not padded to the longest of any process; a process without rows sends nothing."""
    sent, send = [], dist.broadcast

    def counted(tensor: torch.Tensor, rank: int) -> None:
        sent.append((rank, tensor.numel()))
        if rank == 0:
            send(tensor, rank)

    monkeypatch.setattr(dist, "broadcast", counted)
    found = World(0, 3)._gather_pieces(torch.ones(2, 5), [2, 0, 7])
    assert sent == [(0, 10), (2, 35)]
    assert found.shape == (9, 5)
    assert (found[:2] == 1).all()


def test_who_differs_is_named() -> None:
    with pytest.raises(ConfigError, match="the 3 processes differ in their lr: process 0 has 1e-4, process 2 has 1e-3"):
        World(0, 3)._check_alike("lr", ["1e-4", "1e-4", "1e-3"])


def test_a_lost_process_is_one_line() -> None:
    with (
        pytest.raises(ProcessError, match=r"process 1 of 2 lost another one .*Connection closed by peer"),
        World(1, 2)._talking(),
    ):
        raise RuntimeError("[gloo] Connection closed by peer\nmore")


@pytest.mark.usefixtures("group")
def test_missing_gradients_count_as_zero() -> None:
    one, other = (torch.nn.Parameter(torch.zeros(n)) for n in (2, 3))
    one.grad = torch.ones(2)
    assert World(0, 1)._kinds([one, other]) == [2, 0]
    World(0, 1)._sum_dense([one, other])
    assert one.grad.tolist() == [1, 1]
    assert other.grad is not None
    assert other.grad.tolist() == [0, 0, 0]


def test_buckets_hold_everything_once() -> None:
    sizes = [5_000_000, 4_000_000, 10, 20]
    parameters = [torch.nn.Parameter(torch.empty(n)) for n in sizes]
    assert [[p.numel() for p in bucket] for bucket in _buckets(parameters)] == [sizes[:2], sizes[2:]]
