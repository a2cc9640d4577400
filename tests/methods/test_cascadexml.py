from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tiny_methods import OPTIM, cascade, encoder
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree
from treetop.methods import load
from treetop.methods.cascadexml import CascadeXML, CascadeXMLConfig, automatic_layers
from treetop.methods.tuning.cascadexml import Network
from treetop.metrics import evaluate
from treetop.predictions import Ask
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder

TREE = LabelTree.from_parents([[0, 0], [0, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3]])


def network(**options: Any) -> Network:
    config = CascadeXMLConfig(encoder=encoder(), beams=(1, 2), **options)
    return Network(config, TextEncoder.load(encoder()), TREE).eval()


def test_layers_are_spread_as_in_the_paper() -> None:
    assert automatic_layers(12, 4) == ((5, 6), (8,), (10,), (12,))
    assert automatic_layers(12, 3) == ((7, 8), (10,), (12,))
    assert automatic_layers(6, 4) == ((2, 3), (4,), (5,), (6,))
    assert automatic_layers(12, 1) == ((12,),)
    assert automatic_layers(1, 3) == ((1,), (1,), (1,))


@pytest.mark.parametrize("scheme", ["leaf", "parent", "path"])
def test_scores_follow_the_scheme(scheme: str) -> None:
    net = network(scores=scheme)
    model = CascadeXML(net.config, runtime=Runtime(threads=1))
    model.tree = TREE
    model._show(net)
    tokens = net.encoder.tokenize(["topic1 word1x1x1", "topic2"])
    found, _ = model._search(model.reader.read(tokens, Runtime()), Ask(4))
    with torch.no_grad():
        states = net.encoder(tokens.pad(np.arange(2)), net.layers)
        levels = [s(net.features(states, t)).sigmoid() for t, s in enumerate(net.scorers)]
    for row in range(2):
        top = int(levels[0][row].argmax())
        assert {int(TREE.ancestors(0)[label]) for label in found.labels[row]} == {top}
        for label, score in zip(found.labels[row].tolist(), found.scores[row].tolist(), strict=True):
            path = [levels[t][row, int(TREE.ancestors(t)[label])].item() for t in range(3)]
            kept = {"leaf": path[2:], "parent": path[1:], "path": path}[scheme]
            assert score == pytest.approx(np.prod(kept), rel=1e-4)


def test_a_map_that_does_not_fit() -> None:
    with pytest.raises(ConfigError, match="layers has 2 entries, but"):
        network(layers=((1,), (2,)))
    with pytest.raises(ConfigError, match="layers 0"):
        network(layers=((1,), (2,), (9,)))
    for wrong in ({"beams": ()}, {"dropouts": (1.0,)}, {"dev_share": 1.0}, {"linear_share": 0.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            CascadeXMLConfig(**wrong)


def test_true_nodes_join_the_shortlist_with_their_siblings_or_alone(
    toy_train: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eq. 3 adds the true nodes of a level to the children of the best; the code keeps their parents."""
    shortlists, refine = {}, Network._refine
    seen: list[tuple[list[list[int]], list[list[int]]]] = []

    def spy(self: Network, level: int, logits: Any, shortlist: Any, hit: Any, batch: Any) -> Any:
        found = refine(self, level, logits, shortlist, hit, batch)
        rows = [[node for node in row if node >= 0] for row in found.tolist()]
        true = [[node for node in row if node >= 0] for row in batch.true[level + 1].ids.tolist()]
        seen.append((rows, true))
        return found

    monkeypatch.setattr(Network, "_refine", spy)
    for forcing in ("parents", "nodes"):
        seen.clear()
        model = cascade(forcing=forcing, beams=(1,), optim=replace(OPTIM, epochs=1))(Runtime(threads=1)).fit(toy_train)
        assert all(set(t) <= set(row) for rows, true in seen for row, t in zip(rows, true, strict=True))
        assert all(len(set(row)) == len(row) for rows, _ in seen for row in rows)
        shortlists[forcing] = np.mean([len(row) for rows, _ in seen for row in rows])
        assert model.predict(["topic1"])[0]
    assert shortlists["nodes"] < shortlists["parents"]


def test_with_sparse_features(toy_train: Dataset, toy_test: Dataset, tmp_path: Any) -> None:
    model = cascade(sparse=True)(Runtime(threads=1)).fit(toy_train)
    found = model.predict(toy_test, k=5)
    assert evaluate(found, toy_test.labels, ["p@1"])["p@1"] > 0.95
    model.save(tmp_path / "model")
    again = load(tmp_path / "model", runtime=Runtime(threads=1)).predict(toy_test, k=5)
    np.testing.assert_array_equal(found.labels, again.labels)
    everything = model.predict(toy_test, k=42, beam=100)  # both of its parts are held to the labels asked for
    few = model.predict(toy_test, k=5, beam=100, labels=["label 0-1", "label 5-2"])
    for all_found, one in zip(everything, few, strict=True):
        assert {"label 0-1", "label 5-2"} == {label for label, _ in one}
        assert [score for _, score in one] == pytest.approx([dict(all_found)[label] for label, _ in one], abs=1e-5)


def test_the_share_of_the_linear_model(toy_train: Dataset, toy_test: Dataset) -> None:
    """With all of it, the network has no say; in between, scores are the weighted mean of both."""
    model = cascade(sparse=True)(Runtime(threads=1)).fit(toy_train)
    found = {}
    for share in (1e-9, 0.25, 1.0):
        model.config = replace(model.config, linear_share=share)
        found[share] = model.predict(toy_test, k=42).to_csr(42).toarray()
    assert not np.allclose(found[1.0], found[1e-9], atol=0.01)
    reached = found[1e-9] > 0  # what search does not reach has no score of the network
    np.testing.assert_allclose(found[0.25][reached], (0.75 * found[1e-9] + 0.25 * found[1.0])[reached], atol=1e-5)


def test_both_votes_come_from_one_reading(toy_train: Dataset, toy_test: Dataset) -> None:
    model = cascade(sparse=True)(Runtime(threads=1)).fit(toy_train)
    assert isinstance(model, CascadeXML)
    read: list[int] = []
    model.text_encoder.model.register_forward_hook(
        lambda _module, _inputs, options, _output: read.append(len(options["input_ids"])), with_kwargs=True
    )
    model.predict(toy_test, k=5)
    assert sum(read) == len(toy_test)


def test_labels_grouped_by_smoothed_features(toy_train: Dataset, toy_test: Dataset) -> None:
    plain, smooth = (cascade(smooth=on)(Runtime(threads=1)).fit(toy_train) for on in (False, True))
    one, other = plain.label_tree(), smooth.label_tree()
    assert one is not None
    assert other is not None
    assert one.widths == other.widths
    assert evaluate(smooth.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"] > 0.8


def test_a_linear_start_knows_something_before_the_first_step(toy_train: Dataset, toy_test: Dataset) -> None:
    untrained, found = replace(OPTIM, epochs=0), {}
    for kind in ("linear", "none"):
        model = cascade(bootstrap=kind, optim=untrained)(Runtime(threads=1)).fit(toy_train)
        found[kind] = evaluate(model.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"]
    assert found["linear"] > 0.5 > found["none"]
