from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tiny_methods import OPTIM, encoder, light
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree, TreeConfig
from treetop.methods.lightxml import LightXML, LightXMLConfig
from treetop.methods.tuning.lightxml import Network
from treetop.metrics import evaluate
from treetop.predictions import Ask
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderSize, TextEncoder

TREE = LabelTree.from_groups([[0, 1, 2], [3, 4], [5, 6, 7, 8]])


def network(**options: Any) -> Network:
    config = LightXMLConfig(encoder=encoder(), layers=2, bottleneck=8, beam=1, dropout=0.0, **options)
    return Network(config, TextEncoder.load(encoder()), LightXML(config).layers, TREE)


def test_a_labels_score_is_its_own_times_its_groups() -> None:
    net = network().eval()
    model = LightXML(net.config, runtime=Runtime(threads=1))
    model.tree = TREE
    model._show(net)
    tokens = net.encoder.tokenize(["topic1 word1x1x1", "topic2"])
    found = model._search(tokens, Ask(4))
    with torch.no_grad():
        states = net.states(tokens.pad(np.arange(2)))
        assert net.recall is not None
        groups, labels = net.recall(states).sigmoid(), net.ranking(states).sigmoid()
    for row in range(2):
        best = int(groups[row].argmax())
        members = [n for n in found.labels[row].tolist() if n >= 0]
        assert sorted(members) == np.flatnonzero(TREE.parents[1] == best).tolist()
        expected = (labels[row, members] * groups[row, best]).numpy()
        np.testing.assert_allclose(found.scores[row, : len(members)], expected, rtol=1e-5)


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
    assert (loaded.recall_reader is not None) == (negatives == "static-tuned")
    assert any(p.requires_grad for p in model.text_encoder.parameters()) == (negatives == "static-tuned")


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
        bias = model.heads.arrays["ranking.bias" if mode == "flat" else "recall.bias"]
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


def test_groups_that_would_be_none_are_refused(toy_train: Dataset) -> None:
    """Without a level above the labels it would silently be the flat method, or lose its negatives."""
    for options in ({"mode": "groups"}, {"negatives": "static"}):
        with pytest.raises(DataError, match=r"42 labels make no groups .* set tree\.max_leaf to less"):
            light(tree=TreeConfig(max_leaf=100), **options)(Runtime(threads=1)).fit(toy_train)


def test_static_negatives_need_groups_and_flat_mode_no_tree(toy_train: Dataset) -> None:
    untrained = replace(OPTIM, epochs=0)
    for options, levels in (({}, 1), ({"negatives": "static"}, 2), ({"mode": "groups"}, 2)):
        model = light(optim=untrained, **options)(Runtime(threads=1)).fit(toy_train)
        tree = model.label_tree()
        assert tree is not None
        assert tree.levels == levels
        assert tree.widths[-1] == len(toy_train.space)


def test_all_labels_in_chunks_learn_as_well(toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    optim = replace(OPTIM, second_moment="row")
    model = light(mode="flat", optim=optim)(Runtime(threads=1)).fit(toy_train)
    assert evaluate(model.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"] > 0.9
    model.save(tmp_path / "model")
    loaded = LightXML.load(tmp_path / "model", runtime=Runtime(threads=1))
    np.testing.assert_array_equal(loaded.predict(toy_test).labels, model.predict(toy_test).labels)


def test_the_number_of_weights_decides_about_groups_and_the_number_of_labels_about_moments() -> None:
    size, model = EncoderSize(parameters=10**6, width=384, layers=6, attention_heads=12), LightXML()
    heads = [model._heads(labels, size) for labels in (30_000, 55_000, 670_000)]
    assert [[(head.by_rows, head.full) for head in some] for some in heads] == [
        [(False, False)], [(False, True)], [(False, False), (True, False)],
    ]  # fmt: skip
    assert not LightXML(layers=1)._heads(670_000, size)[0].by_rows
