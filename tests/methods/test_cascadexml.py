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
from treetop.methods.cascadexml import CascadeXML, CascadeXMLConfig, Network, automatic_layers
from treetop.metrics import evaluate
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
    rows = np.arange(2)
    batch = net.encoder.tokenize(["topic1 word1x1x1", "topic2"]).pad(rows)
    with torch.no_grad():
        shortlist, scores = net.score(batch, rows)
        states = net.encoder(batch, net.layers)
        levels = [s(net.features(states, t)).sigmoid() for t, s in enumerate(net.scorers)]
    assert shortlist is not None
    for row in range(2):
        top = int(levels[0][row].argmax())
        assert {int(TREE.ancestors(0)[label]) for label in shortlist[row]} == {top}
        for label, score in zip(shortlist[row].tolist(), scores[row].tolist(), strict=True):
            path = [levels[t][row, int(TREE.ancestors(t)[label])].item() for t in range(3)]
            kept = {"leaf": path[2:], "parent": path[1:], "path": path}[scheme]
            assert score == pytest.approx(np.prod(kept), rel=1e-4)


def test_losses_are_rescaled_by_the_shortlists() -> None:
    assert network().weights == [1.0, 1.0, 2.0]  # 2 nodes, 1 × 2 children, 2 × 2 children
    assert network(rescale=False).weights == [1.0, 1.0, 1.0]


def test_every_level_feeds_the_encoder_and_its_own_scorer() -> None:
    from treetop.neural.examples import Examples
    from treetop.sparse import canonical

    net = network().train()
    labels = canonical(np.eye(8, dtype=np.float32)[[0, 7]])
    examples = Examples(net.encoder.tokenize(["topic1", "topic2"]), [TREE.lift(labels, t) for t in range(3)])
    net.loss(examples.batch(np.arange(2))).backward()  # type: ignore[no-untyped-call]
    for scorer in net.scorers:
        assert scorer.weight.grad is not None
    of_leaves: Any = net.scorers[2].weight.grad
    assert 7 in of_leaves.coalesce().indices()[0].tolist()


def test_a_map_that_does_not_fit() -> None:
    with pytest.raises(ConfigError, match="layers has 2 entries, but"):
        network(layers=((1,), (2,)))
    with pytest.raises(ConfigError, match="layers 0"):
        network(layers=((1,), (2,), (9,)))
    for wrong in ({"beams": ()}, {"dropouts": (1.0,)}, {"dev_share": 1.0}, {"linear_share": 0.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            CascadeXMLConfig(**wrong)


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
    model.network.encoder.register_forward_hook(lambda _module, inputs, _output: read.append(inputs[0].texts))
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


def test_settings_of_levels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"dropouts has 4 entries, but .* 3 levels of 2 > 4 > 8 nodes"):
        network(dropouts=(0.1, 0.2, 0.3, 0.4))
    with pytest.raises(ConfigError, match="beams has 3 entries, but"):
        Network(CascadeXMLConfig(encoder=encoder(), beams=(1, 2, 3)), TextEncoder.load(encoder()), TREE)
