from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tiny_methods import OPTIM, encoder, light
from treetop.data import Dataset
from treetop.labels import LabelTree
from treetop.methods.lightxml import LightXML, LightXMLConfig
from treetop.methods.tuning.lightxml import Network
from treetop.neural.examples import Batch, Examples
from treetop.runtime import Runtime
from treetop.sparse import binarise
from treetop.text.encoder import TextEncoder

TREE = LabelTree.from_groups([[0, 1, 2], [3, 4], [5, 6, 7, 8]])


def network(**options: Any) -> Network:
    config = LightXMLConfig(encoder=encoder(), layers=2, bottleneck=8, beam=1, dropout=0.0, **options)
    return Network(config, TextEncoder.load(encoder()), LightXML(config).layers, TREE)


def small_examples(net: Network) -> Examples:
    data = Dataset.build(["topic1 topic2", "topic3"], [["0", "3", "8"], ["4"]], space=Dataset.build(
        [""], [[str(i) for i in range(9)]]).space)  # fmt: skip
    true = binarise(data.labels)
    return Examples(net.encoder.tokenize(data.corpus.texts), [TREE.lift(true, level) for level in (0, 1)])


def test_every_true_label_competes_even_beyond_the_beam(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network()
    seen: list[torch.Tensor] = []
    original = net.ranking.forward

    def spy(states: torch.Tensor, shortlist: torch.Tensor) -> torch.Tensor:
        seen.append(shortlist)
        return original(states, shortlist)

    monkeypatch.setattr(net.ranking, "forward", spy)
    net.loss(small_examples(net).batch(np.arange(2))).backward()  # type: ignore[no-untyped-call]
    assert {0, 3, 8} <= set(seen[0][0].tolist())  # three true groups, a beam of one
    assert 4 in seen[0][1].tolist()
    assert net.ranking.weight.grad is not None
    assert net.ranking.weight.grad.is_sparse


def test_the_loss_is_that_of_groups_and_that_of_the_labels_below_the_best() -> None:
    """Eq. 2, 4 and 6: cross-entropy over all groups, and over the labels of one group with those of the true groups."""
    net = network(divide_by="sum").eval()
    batch = small_examples(net).batch(np.arange(2))
    states = net.states(batch.tokens)
    groups, labels = net.recall(states).detach(), net.ranking(states).detach()  # type: ignore[misc]
    expected = 0.0
    for text, (true_groups, true_labels) in enumerate([({0, 1, 2}, {0, 3, 8}), ({1}, {4})]):
        below = [label for group in true_groups for label in ([0, 1, 2], [3, 4], [5, 6, 7, 8])[group]]
        for margins, nodes, true in ((groups, range(3), true_groups), (labels, below, true_labels)):
            chance = {node: 1 / (1 + math.exp(-float(margins[text, node]))) for node in nodes}
            expected -= sum(math.log(p if node in true else 1 - p) for node, p in chance.items()) / 2
    assert float(net.loss(batch).detach()) == pytest.approx(expected, rel=1e-5)


def test_the_representation_joins_the_last_layers() -> None:
    net = network()
    batch = net.encoder.tokenize(["topic1"]).pad(np.arange(1))
    states = net.encoder(batch, (1, 2))
    torch.testing.assert_close(net.states(batch)[0], torch.cat([states[0, 0], states[1, 0]]))


def test_static_negatives_stay_what_recall_found(toy_train: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropout must not change them: what competes for a text in the second phase is the same in every epoch."""
    seen: dict[int, set[frozenset[int]]] = {}
    original = Network.loss

    def spy(self: Network, batch: Batch) -> Any:
        if batch.shortlist is not None:
            true = [frozenset(row) - {-1} for row in batch.true[0].ids.tolist()]
            for row, groups, own in zip(batch.rows.tolist(), batch.shortlist.ids.tolist(), true, strict=True):
                seen.setdefault(row, set()).add(frozenset(groups) - {-1})
                assert own <= frozenset(groups)
        return original(self, batch)

    monkeypatch.setattr(Network, "loss", spy)
    optim = replace(OPTIM, epochs=2)
    model = light(mode="groups", negatives="static", beam=2, dropout=0.5, optim=optim)(Runtime(threads=1))
    model.fit(toy_train)
    assert len(seen) == len(toy_train)
    assert all(len(found) == 1 for found in seen.values())
    assert all(len(next(iter(found))) >= 2 for found in seen.values())  # the beam, not the true groups alone
