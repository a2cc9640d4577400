from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from planted_methods import PLANTED_MAKERS, p_at_1
from tiny_methods import OPTIM, encoder, recursive
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree, TreeConfig
from treetop.linear import LinearLevel, LinearTree
from treetop.methods.tuning import xr_transformer as tuning
from treetop.methods.tuning.xr_transformer import Network
from treetop.methods.xr_transformer import XRTransformer, XRTransformerConfig
from treetop.neural.examples import Batch
from treetop.neural.networks import find_nodes
from treetop.neural.shortlist import expand
from treetop.neural.starting import start_linearly
from treetop.runtime import Runtime
from treetop.sparse import Joined
from treetop.text.reading.text_reader import TextReader

QUICK = replace(OPTIM, epochs=1, log_every=1)


def fitted(train: Dataset, **options: Any) -> XRTransformer:
    model = recursive(optim=QUICK, **options)(Runtime(threads=1)).fit(train)
    assert isinstance(model, XRTransformer)
    return model


def test_a_linear_start_begins_far_below_a_random_one(toy_train: Dataset) -> None:
    kinds = ("linear", "inherit", "none")
    models = {kind: fitted(toy_train, bootstrap=kind, dropout=0.0) for kind in kinds}
    first = {kind: model.logs[-1].records[0]["loss"] for kind, model in models.items()}
    assert first["linear"] < 0.7 * first["none"]
    at_once = fitted(toy_train, bootstrap="everywhere", dropout=0.0)
    assert at_once.logs[0].records[0]["loss"] < 0.7 * models["linear"].logs[0].records[0]["loss"]
    assert np.isfinite(first["inherit"])


@pytest.mark.parametrize(
    "switch",
    [
        {"use_tfidf": False},
        {"refine": False},
        {"relevance": "count"},
        {"relevance": "off", "negative": 0.5},
        {"negatives": "matcher"},
    ],
    ids=str,
)
def test_switches(switch: dict[str, Any]) -> None:
    """On texts that the encoder must be tuned for: untuned, all of these stay at about one half."""
    assert p_at_1(PLANTED_MAKERS["xr-transformer"](**switch)) > 0.65


def test_with_a_teacher_only_children_of_true_nodes_compete(
    toy_train: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, levels = Network.loss, set()

    def spy(self: Network, batch: Batch) -> Any:
        if batch.shortlist is not None:
            levels.add(self.scorer.nodes)
            for parents, true in zip(batch.shortlist.ids, batch.true[0].ids, strict=True):
                below = expand(parents[parents >= 0][:, None], self.below)  # a row of children for each
                assert torch.isin(below, true[true >= 0]).any(1).all()
        return original(self, batch)

    monkeypatch.setattr(Network, "loss", spy)
    fitted(toy_train, negatives="teacher")
    assert len(levels) == 2  # all but the coarsest


def test_a_linear_model_may_find_the_rivals(toy_train: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Algorithm 1: at each level a linear model on tf-idf ⊕ embedding, and what it finds is the next shortlist."""
    seen: list[tuple[int, int]] = []
    fit = LinearLevel.fit

    def spy(features: Any, *arguments: Any, **options: Any) -> LinearLevel:
        if options["title"].startswith("rivals"):
            assert isinstance(features, Joined)
            seen.append((features.shape[0], features.dense.shape[1]))
        return fit(features, *arguments, **options)

    monkeypatch.setattr(LinearLevel, "fit", spy)
    found = {kind: fitted(toy_train, rivals=kind, negatives="matcher") for kind in ("network", "linear")}
    assert seen == [(400, 32)] * 2  # for all levels but the last that is tuned
    network, linear = (model.predict(["topic1 noise3"]).scores for model in found.values())
    assert not np.array_equal(network, linear)


def test_rivals_of_cross_entropy_are_found_by_its_own_link(toy_train: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    links: list[str] = []
    search = find_nodes

    def spy(*arguments: Any, **options: Any) -> Any:
        links.append(options["link"])
        return search(*arguments, **options)

    monkeypatch.setattr(tuning, "find_nodes", spy)
    fitted(toy_train, loss="bce")
    fitted(toy_train)
    assert links == ["sigmoid"] * 2 + ["l3-hinge"] * 2


def test_trees_may_be_grown_on_label_texts(toy_train: Dataset) -> None:
    with pytest.raises(DataError, match="representation 'text' needs label texts"):
        fitted(toy_train, representation="text")
    named = replace(toy_train, space=toy_train.space.with_texts({}))
    plain, text = (fitted(named, representation=kind).ranker.tree for kind in ("pifa", "text"))
    assert not np.array_equal(plain.parents[-1], text.parents[-1])


def test_levels_beyond_the_finest_are_left_to_the_ranker(toy_train: Dataset) -> None:
    assert len(fitted(toy_train).logs) == 3
    assert len(fitted(toy_train, finest=20).logs) == 2


@pytest.mark.parametrize("refine", [True, False])
def test_labels_are_ranked_on_a_refined_tree_of_all_features(
    refine: bool, toy_train: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Algorithm 2: a second tree, grown on tf-idf ⊕ embedding; without it the preliminary one, on tf-idf, ranks too."""
    grown: list[tuple[type, LabelTree]] = []
    grow = XRTransformer._grow

    def spy(self: XRTransformer, features: Any, *given: Any) -> LabelTree:
        grown.append((type(features), grow(self, features, *given)))
        return grown[-1][1]

    monkeypatch.setattr(XRTransformer, "_grow", spy)
    model = fitted(toy_train, refine=refine, fine_tree=TreeConfig(max_leaf=4, branching=2))
    assert [kind for kind, _ in grown] == [csr_array, Joined][: 1 + refine]
    assert model.ranker.tree.widths == grown[-1][1].widths
    assert (grown[0][1].widths == grown[-1][1].widths) == (not refine)


def test_steps_per_level(toy_train: Dataset) -> None:
    assert [log.steps for log in fitted(toy_train, steps=(3, 5)).logs] == [3, 5, 5]
    assert [log.steps for log in fitted(toy_train, steps=(0, 2)).logs] == [0, 2, 2]


def test_an_interrupted_fit_continues(toy_train: Dataset, tmp_path: Path) -> None:
    def model() -> XRTransformer:
        config = recursive(optim=QUICK)(Runtime()).config
        return XRTransformer(config, runtime=Runtime(threads=1), checkpoint=tmp_path)

    first = model().fit(toy_train)
    for folder in (tmp_path / "level-2").glob("step-*"):  # as if it had stopped before the last level
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    again = model().fit(toy_train)
    np.testing.assert_array_equal(first.predict(["topic1"]).scores, again.predict(["topic1"]).scores)


class Counted:
    """How often the texts are read, and how many linear starts are solved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads = self.starts = 0
        read, start = TextReader.read, start_linearly

        def counted_read(*arguments: Any) -> Any:
            self.reads += 1
            return read(*arguments)

        def counted_start(*arguments: Any, **options: Any) -> None:
            self.starts += 1
            start(*arguments, **options)

        monkeypatch.setattr(TextReader, "read", counted_read)
        monkeypatch.setattr(tuning, "start_linearly", counted_start)


def test_texts_are_read_once_if_nothing_is_learned(toy_train: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Counted(monkeypatch)
    model = fitted(toy_train, steps=(0,))
    assert len(model.logs) == 3
    assert (count.reads, count.starts) == (1, 3)
    count.reads = 0
    fitted(toy_train, steps=(0, 2))  # nothing is learned from the first level
    assert count.reads == 3


def test_a_resumed_fit_does_not_repeat_what_is_done(
    toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model() -> XRTransformer:
        config = recursive(optim=QUICK)(Runtime()).config
        return XRTransformer(config, runtime=Runtime(threads=1), checkpoint=tmp_path)

    count = Counted(monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(LinearTree, "fit", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model().fit(toy_train)
    assert (count.reads, count.starts) == (4, 3)
    again = model().fit(toy_train)
    assert (count.reads, count.starts) == (4, 3)
    assert not list(tmp_path.glob("states-*"))  # the training is over
    monkeypatch.undo()
    expected = fitted(toy_train).predict(["topic1 noise3"]).scores
    np.testing.assert_array_equal(again.predict(["topic1 noise3"]).scores, expected)


def test_impossible_settings() -> None:
    for wrong in ({"beam": 0}, {"finest": 0}, {"dropout": 1.0}, {"negative": 0.0}, {"bootstrap_c": 0.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            XRTransformerConfig(encoder=encoder(), **wrong)
    with pytest.raises(ConfigError, match="give one of them"):
        XRTransformerConfig(encoder=encoder(), steps=(3,), optim=replace(OPTIM, steps=5, epochs=0))


def test_steps_of_levels_that_are_not_tuned_are_refused(toy_train: Dataset) -> None:
    with pytest.raises(ConfigError, match="steps has 9 entries, but"):
        recursive(steps=(1,) * 9)(Runtime(threads=1)).fit(toy_train)
