from __future__ import annotations

import numpy as np
import pytest

from tiny_methods import encoder, recursive
from treetop.data import Dataset
from treetop.labels import LabelTree
from treetop.methods.tuning.xr_transformer import Tuning, costs_of
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text.encoder import TextEncoder


@pytest.mark.parametrize("kind", ["prior", "none"])
def test_a_start_at_random_is_with_or_without_expectations(kind: str, toy_train: Dataset) -> None:
    tree, config = LabelTree.from_groups([range(40), [40, 41]]), recursive(bootstrap=kind)(Runtime()).config
    tuned = Tuning(config, TextEncoder.load(encoder()), tree, Runtime(threads=1))
    network = tuned.network(None, 0, tree.lift(toy_train.labels, 0), None, None)
    assert network.scorer.bias is not None
    bias = network.scorer.bias.tolist()
    assert bias == [0, 0] if kind == "none" else -1 < bias[1] < bias[0]


def test_who_competes_is_of_the_truth_the_search_or_both() -> None:
    true, found = (canonical(np.array(rows, np.float32)) for rows in ([[1, 0, 0]], [[0, 1, 0]]))
    competing, tree = {}, LabelTree.flat(3)
    for kind in ("teacher", "matcher", "both"):
        tuned = Tuning(recursive(negatives=kind)(Runtime()).config, TextEncoder.load(encoder()), tree, Runtime())
        competing[kind] = tuned.shortlist(true, found).toarray()[0].tolist()
    assert competing == {"teacher": [1, 0, 0], "matcher": [0, 1, 0], "both": [1, 1, 0]}


def test_costs_are_shares_of_a_texts_labels() -> None:
    true = canonical(np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))
    assert costs_of(true, "share").toarray().tolist() == [[0.75, 0, 0.25], [0, 1, 0]]
    assert costs_of(true, "count").toarray().tolist() == [[3, 0, 1], [0, 2, 0]]
    assert costs_of(true, "off").toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
