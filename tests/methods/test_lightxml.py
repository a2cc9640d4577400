from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tiny_methods import OPTIM, encoder, light
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree
from treetop.methods.lightxml import LightXML, LightXMLConfig, Network
from treetop.metrics import evaluate
from treetop.neural.examples import Batch, Examples
from treetop.runtime import Runtime
from treetop.sparse import binarise
from treetop.text.encoder import TextEncoder

TREE = LabelTree.from_groups([[0, 1, 2], [3, 4], [5, 6, 7, 8]])


def network(**options: Any) -> Network:
    config = LightXMLConfig(encoder=encoder(), layers=2, bottleneck=8, beam=1, dropout=0.0, **options)
    return Network(config, TextEncoder.load(encoder()), TREE)


def small_examples(net: Network) -> Examples:
    data = Dataset.build(["topic1 topic2", "topic3"], [["0", "3", "8"], ["4"]], space=Dataset.build(
        [""], [[str(i) for i in range(9)]]).space)  # fmt: skip
    true = binarise(data.labels)
    return Examples(net.encoder.tokenize(data.corpus.texts), [TREE.lift(true, level) for level in (0, 1)])


def test_a_labels_score_is_its_own_times_its_groups() -> None:
    net = network().eval()
    tokens = net.encoder.tokenize(["topic1 word1x1x1", "topic2"])
    rows = np.arange(2)
    with torch.no_grad():
        shortlist, scores = net.score(tokens.pad(rows), rows)
        states = net.states(tokens.pad(rows))
        assert net.recall is not None
        groups, labels = net.recall(states).sigmoid(), net.ranking(states).sigmoid()
    assert shortlist is not None
    for row in range(2):
        best = int(groups[row].argmax())
        members = [n for n in shortlist[row].tolist() if n >= 0]
        assert members == np.flatnonzero(TREE.parents[1] == best).tolist()
        expected = labels[row, members] * groups[row, best]
        torch.testing.assert_close(scores[row, : len(members)], expected)


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


def test_the_representation_joins_the_last_layers() -> None:
    net = network()
    batch = net.encoder.tokenize(["topic1"]).pad(np.arange(1))
    states = net.encoder(batch, (1, 2))
    torch.testing.assert_close(net.states(batch)[0], torch.cat([states[0, 0], states[1, 0]]))


@pytest.mark.parametrize(("negatives", "floor"), [("static", 0.3), ("static-tuned", 0.8)])
def test_static_negatives_learn_in_two_phases(
    negatives: str, floor: float, toy_train: Dataset, toy_test: Dataset, tmp_path: Path
) -> None:
    model = light(mode="groups", negatives=negatives)(Runtime(threads=1)).fit(toy_train)
    assert isinstance(model, LightXML)
    assert len(model.logs) == 2
    assert evaluate(model.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"] > floor
    model.save(tmp_path / "model")
    loaded = LightXML.load(tmp_path / "model", runtime=Runtime(threads=1))
    np.testing.assert_array_equal(loaded.predict(toy_test).labels, model.predict(toy_test).labels)
    # S ranks on a representation that only ever learned groups: far above chance (1 in 42), far below the others.
    assert any(p.requires_grad for p in model.network.encoder.parameters()) == (negatives == "static-tuned")


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


def test_a_dev_share_chooses_and_an_interrupted_fit_continues(toy_train: Dataset, tmp_path: Path) -> None:
    config = LightXMLConfig(encoder=encoder(), layers=1, dev_share=0.2, optim=replace(OPTIM, epochs=2))
    first = LightXML(config, runtime=Runtime(threads=1), checkpoint=tmp_path).fit(toy_train)
    assert first.logs[0].best_score is not None
    again = LightXML(config, runtime=Runtime(threads=1), checkpoint=tmp_path).fit(toy_train)
    np.testing.assert_array_equal(first.predict(["topic1"]).scores, again.predict(["topic1"]).scores)


@pytest.mark.parametrize("mode", ["flat", "groups"])
def test_a_linear_start_knows_something_before_the_first_step(mode: Any, toy_train: Dataset, toy_test: Dataset) -> None:
    untrained = replace(OPTIM, epochs=0)
    found = {}
    for kind in ("linear", "prior", "none"):
        model = light(mode=mode, bootstrap=kind, bottleneck=0, beam=1, optim=untrained)(Runtime(threads=1))
        found[kind] = evaluate(model.fit(toy_train).predict(toy_test, k=5), toy_test.labels, ["p@5"])["p@5"]
        assert isinstance(model, LightXML)
        bias = (model.network.recall or model.network.ranking).bias
        assert bias is not None
        assert bool((bias == 0).all()) == (kind == "none")
    assert found["linear"] > 2 * max(found["prior"], found["none"])


def test_impossible_settings() -> None:
    for wrong in ({"layers": 0}, {"beam": 0}, {"dropout": 1.0}, {"dev_share": 1.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            LightXMLConfig(**wrong)
    with pytest.raises(ConfigError, match="no negatives to choose"):
        LightXMLConfig(mode="flat", negatives="static")
    with pytest.raises(ConfigError, match="nothing to squash"):
        LightXMLConfig(squash="sigmoid", bottleneck=0)


def test_static_negatives_need_groups_and_flat_mode_no_tree(toy_train: Dataset) -> None:
    untrained = replace(OPTIM, epochs=0)
    for options, levels in (({}, 1), ({"negatives": "static"}, 2), ({"mode": "groups"}, 2)):
        model = light(optim=untrained, **options)(Runtime(threads=1)).fit(toy_train)
        tree = model.label_tree()
        assert tree is not None
        assert tree.levels == levels
        assert tree.widths[-1] == len(toy_train.space)
