from __future__ import annotations

import numpy as np
import pytest

import treetop
from treetop.data import Dataset
from treetop.methods.resolving import resolve
from treetop.presets.linear import LINEAR
from treetop.presets.preset import Preset
from treetop.runtime import Runtime


@pytest.mark.parametrize("preset", LINEAR, ids=lambda preset: preset.name)
def test_every_preset_is_a_valid_configuration_without_torch(preset: Preset) -> None:
    config = resolve(preset.method, preset_name=preset.name)
    trees = getattr(config, "trees", 1)
    assert trees == (3 if preset.name in ("parabel", "bonsai") else 1)


def test_the_published_trees() -> None:
    parabel, bonsai = (resolve("xr-linear", preset_name=name) for name in ("parabel", "bonsai"))
    assert (parabel.tree.kind, parabel.tree.branching, parabel.tree.max_leaf) == ("balanced", 2, 100)
    assert parabel.representation == bonsai.representation == "pifa-plain"
    assert (bonsai.tree.kind, bonsai.tree.branching, bonsai.tree.max_depth) == ("kmeans", 100, 3)


def test_thorough_is_one_vs_all_among_the_texts_that_a_search_confuses(toy_train: Dataset, toy_test: Dataset) -> None:
    """With a beam that keeps every node, that is every text, and the two methods solve the same problems."""
    everything = ("tree.max_leaf=4", "tree.branching=4", "linear.search.beam=100", "linear.relevance=off")
    solver = "solver.eps=0.001", "solver.threshold=0.0", "solver.c_positive=2.0"
    thorough = resolve("xr-linear", preset_name="thorough", assignments=(*everything, *(f"linear.{s}" for s in solver)))
    one_vs_all = resolve("one-vs-all", preset_name="dismec", assignments=(*solver, "search.link=sigmoid"))
    runtime = Runtime(threads=1)
    models = treetop.XRLinear(thorough, runtime=runtime), treetop.OneVsAll(one_vs_all, runtime=runtime)
    found, expected = (model.fit(toy_train).predict(toy_test, k=42).to_csr(42).toarray() for model in models)
    np.testing.assert_allclose(found, expected, atol=2e-3)
