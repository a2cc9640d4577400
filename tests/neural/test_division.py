"""Divided heads; that all methods learn the same with them is in tests/methods/test_together.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).parent))

from toy_training import WORDS, ToyNetwork, train, weights

from tiny_encoders import make_encoder
from treetop.neural.division import Division, divide
from treetop.neural.parallel import World
from treetop.neural.scorer import NodeScorer

PROGRAM = Path(__file__).with_name("toy_training.py")


def test_every_row_has_one_process() -> None:
    divisions = [Division(World(rank, 3), 11) for rank in range(3)]
    rows = [row for division in divisions for row in range(11)[division.own]]
    assert rows == list(range(11))
    assert divisions[0].sizes == [len(range(11)[division.own]) for division in divisions] == [3, 4, 4]


def test_a_process_keeps_its_rows_and_knows_what_has_rows() -> None:
    fine, coarse = NodeScorer(7, 2), NodeScorer(3, 2, by_rows=False)
    both = torch.nn.ModuleDict({"fine": fine, "coarse": coarse})
    before = {name: p.detach().clone() for name, p in both.named_parameters()}
    divided = divide(both, World(1, 2), wanted=True)
    assert sorted(divided.parameters) == ["fine.bias", "fine.weight"]
    assert torch.equal(fine.weight, before["fine.weight"][3:])
    assert torch.equal(coarse.weight, before["coarse.weight"])
    stored = {name: rows.numpy() for name, rows in before.items()}
    assert divided.own("fine.weight", stored["fine.weight"]).tolist() == fine.weight.tolist()
    assert divided.own("coarse.weight", stored["coarse.weight"]) is stored["coarse.weight"]
    owed = torch.zeros(1, dtype=torch.float64)
    assert divided.late("fine.weight", owed) is owed
    assert divided.own("fine.weight", owed.numpy()).tolist() == [0.0]
    late: Any = divided.late("fine.weight", fine.weight)
    assert late.shape == (7, 2)


def test_alone_nothing_is_divided() -> None:
    assert not divide(torch.nn.ModuleDict({"fine": NodeScorer(7, 2)}), World(), wanted=True)
    assert not divide(torch.nn.ModuleDict({"fine": NodeScorer(7, 2)}), World(1, 2), wanted=False)


@pytest.mark.skipif(not dist.is_available(), reason="needs torch.distributed")
def test_two_processes_with_divided_heads_learn_what_one_does(tmp_path: Path) -> None:
    """With batches that leave one of them without a text, a limit for all gradients together, and averaged weights."""
    encoder = make_encoder(tmp_path / "encoder", WORDS, layers=2)
    options: dict[str, Any] = {
        "epochs": 3, "weight_decay": 0.1, "head_lr_factor": 0.0, "batch_size": 2, "accumulate": 3, "clip": 0.3,
        "average": "ema", "ema_decay": 0.9, "average_every": 2, "average_from": 0.3, "heads": "divided",
    }  # fmt: skip
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(PROGRAM)]
    arguments = [str(encoder), str(tmp_path / "two.npz"), json.dumps(options | {"dropout": 0.0})]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    subprocess.run([*torchrun, *arguments], env=environment, check=True, capture_output=True, timeout=300)
    two = dict(np.load(tmp_path / "two.npz"))
    one, before = weights(train(encoder, options, dropout=0.0)[0]), weights(ToyNetwork(encoder, 0.0))
    assert np.abs(one["scorer.weight"] - before["scorer.weight"]).max() > 1e-3
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=3e-5, err_msg=name)
