from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiny_methods import encoder
from treetop.errors import ConfigError
from treetop.labels import LabelTree
from treetop.methods.cascadexml import CascadeXMLConfig
from treetop.methods.tuning.cascadexml import Network
from treetop.text.encoder import TextEncoder

TREE = LabelTree.from_parents([[0, 0], [0, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3]])


def network(**options: Any) -> Network:
    config = CascadeXMLConfig(encoder=encoder(), beams=(1, 2), **options)
    return Network(config, TextEncoder.load(encoder()), TREE).eval()


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


def test_settings_of_levels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"dropouts has 4 entries, but .* 3 levels of 2 > 4 > 8 nodes"):
        network(dropouts=(0.1, 0.2, 0.3, 0.4))
    with pytest.raises(ConfigError, match="beams has 3 entries, but"):
        Network(CascadeXMLConfig(encoder=encoder(), beams=(1, 2, 3)), TextEncoder.load(encoder()), TREE)
