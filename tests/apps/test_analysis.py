from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiny_methods import OPTIM, cascade, light
from treetop.apps.analysis import analyse, draw
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods import Method
from treetop.methods.one_vs_all import OneVsAll
from treetop.runtime import Runtime

ONE = Runtime(threads=1)


@pytest.fixture(scope="module")
def model(toy_train: Dataset) -> Method[Any]:
    return cascade()(ONE).fit(toy_train)


def test_a_cascade_is_looked_into_and_drawn(model: Method[Any], toy_test: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra 'plots'")
    found = analyse(model, toy_test)
    tree = model.label_tree()
    assert tree is not None
    assert found.widths == list(tree.widths[:-1])
    assert all(0.8 < share <= 1 for share in found.recall)
    assert found.before is not None
    assert found.before.entropy.shape == found.attention.entropy.shape == (2, 2)
    assert not np.allclose(found.before.to_itself, found.attention.to_itself)  # training moved it
    assert found.similarity is not None
    assert found.similarity.shape == (2, 2)
    pictures = draw(found, tmp_path / "new" / "pictures")
    assert [path.name for path in pictures] == ["attention.png", "entropy.png", "recall.png", "similarity.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_shortlists_are_what_the_search_walks_through(model: Method[Any], toy_test: Dataset) -> None:
    kept = model.shortlists(toy_test.corpus.texts)[-1]  # type: ignore[attr-defined]
    assert set(np.diff(kept.indptr)) == {3}  # the beam
    tree = model.label_tree()
    assert tree is not None
    reached = tree.expand(kept, tree.levels - 1)
    found = model.predict(toy_test, 5).to_csr(tree.widths[-1])
    assert found.multiply(reached > 0).nnz == found.nnz  # every label found is below a node that was kept


def test_other_methods(toy_train: Dataset, toy_test: Dataset) -> None:
    few = toy_test.take(range(20))
    found = analyse(light(optim=replace(OPTIM, epochs=1))(ONE).fit(toy_train), few)
    assert found.recall == []
    assert found.similarity is None
    assert found.remark == "20 texts cannot tell representations of 32 numbers apart; give several times more"
    with pytest.raises(ConfigError, match="no encoder to look into"):
        analyse(OneVsAll(runtime=ONE).fit(toy_train), few)
