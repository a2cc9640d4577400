"""A small network trained on a few texts; runs inside the tests and as a program of its own, alone or by torchrun.

python toy_training.py ENCODER OUT.npz '{"epochs": 2}' [CHECKPOINTS]
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

from treetop.config import from_dict
from treetop.neural.examples import Batch, Examples
from treetop.neural.full_head import FullHead
from treetop.neural.losses import bce
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig
from treetop.neural.shortlist import targets
from treetop.neural.training import TrainingLog, fine_tune
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text.encoder import EncoderConfig, TextEncoder

WORDS = [f"w{i}" for i in range(20)]
NODES = 30


class ToyNetwork(nn.Module):
    """Scores a few of 30 nodes, by rows, and all of them, from the encoder's last state with dropout."""

    def __init__(self, folder: Path, dropout: float) -> None:
        super().__init__()
        config = EncoderConfig(name=str(folder), max_tokens=16, dropout=dropout)
        self.encoder = TextEncoder.load(config)
        torch.manual_seed(3)
        self.scorer = NodeScorer(NODES, self.encoder.width)
        self.full = FullHead(NODES, self.encoder.width)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.shortlist is not None
        shortlist, true, states = batch.shortlist.ids, batch.true[0].ids, self.encoder(batch.tokens)[0]
        of_all: Tensor = self.full(states, true)
        return bce(self.scorer(states, shortlist), targets(true, shortlist, NODES), shortlist) + of_all

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        return group_parameters(self, self.encoder, config)


def toy_examples(network: ToyNetwork, texts: int = 41) -> Examples:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 20, texts)
    words = [" ".join(rng.choice(WORDS, rng.integers(1, 9))) + f" w{node}" for node in label]
    true = canonical(csr_array((np.ones(texts), (np.arange(texts), label)), shape=(texts, NODES)))
    shortlist = canonical(csr_array((rng.random((texts, NODES)) < 0.3) | (true.toarray() > 0)))
    return Examples(network.encoder.tokenize(words), [true], shortlist)


def train(
    folder: Path, options: dict[str, Any], checkpoint: Path | None = None, dropout: float = 0.2, watch: Any = None
) -> tuple[ToyNetwork, TrainingLog]:
    network = ToyNetwork(folder, dropout)
    config = from_dict(OptimConfig, {"lr": 1e-3, "batch_size": 4, "head_weight_decay": 0.1, "log_every": 1} | options)
    examples, runtime = toy_examples(network), Runtime(seed=5, threads=1)
    score = watch and watch(network)
    return network, fine_tune(network, examples, config, runtime, watch=score, checkpoint=checkpoint)


def weights(network: nn.Module) -> dict[str, Any]:
    return {name: p.detach().numpy() for name, p in network.named_parameters()}


if __name__ == "__main__":
    encoder, out, options = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    dropout = options.pop("dropout", 0.2)
    trained, _ = train(encoder, options, Path(sys.argv[4]) if len(sys.argv) > 4 else None, dropout)
    if os.environ.get("RANK", "0") == "0":
        np.savez(out, **weights(trained))
