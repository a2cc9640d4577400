"""What a training is expected to take, and that it then goes through the stages that were planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from listening import Kept
from treetop.data import Corpus, Dataset
from treetop.labels import LabelTree, TreeConfig
from treetop.linear import LinearTreeConfig, SearchConfig
from treetop.methods import Method
from treetop.methods.costs import Sizes, growing, planned_widths, ranking, ranking_level, sizes_of, weighing
from treetop.methods.ensemble import Ensemble
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text import TfidfConfig

SIZES = Sizes(texts=1000, labels=5000, true=4000, characters=1e6, entries=50)
SMALL = TreeConfig(max_leaf=8, branching=4)


def test_sizes_are_those_of_the_data() -> None:
    dataset = Dataset.build(["one two two", "three"], [["a", "b"], ["b"]])
    assert sizes_of(dataset, 3) == Sizes(texts=2, labels=2, true=3, characters=16, entries=1.5, cores=3)
    features = canonical(np.ones((2, 10), np.float32))
    given = Dataset(Corpus([], features), dataset.labels, dataset.space)
    assert sizes_of(given) == Sizes(texts=2, labels=2, true=3, characters=0, entries=10)


def test_more_work_takes_longer_and_more_cores_less() -> None:
    wide = replace(SIZES, labels=50_000, true=40_000)
    stages: list[Callable[[Sizes], Any]] = [
        lambda sizes: growing(sizes, TreeConfig()),
        lambda sizes: ranking_level(sizes, 50, 5000, level=1, beam=0),
        lambda sizes: weighing(sizes, TfidfConfig())[0],
    ]
    for make in stages:
        assert make(replace(SIZES, cores=4)).seconds < make(SIZES).seconds
    assert growing(wide, TreeConfig()).seconds > growing(SIZES, TreeConfig()).seconds
    teacher, both = (
        ranking(SIZES, (50, 5000), LinearTreeConfig(negatives=kind, search=SearchConfig(beam=20)))
        for kind in ("teacher", "both")
    )
    assert [stage.title for stage in teacher] == ["train level 0", "train level 1"]
    assert both[1].seconds > 2 * teacher[1].seconds
    one_vs_all = ranking_level(SIZES, 1, 5000, level=0, beam=0)
    assert one_vs_all.seconds > 2 * sum(stage.seconds for stage in teacher)


def test_n_grams_of_letters_cost_their_number() -> None:
    words, sizes = weighing(SIZES, TfidfConfig())
    letters, more = weighing(SIZES, TfidfConfig(char_wb_ngrams=(3, 5)))
    assert sizes.entries == 50
    assert more.entries == 50 * 13
    assert letters.seconds == pytest.approx(13 * words.seconds)


def test_the_levels_of_a_tree_are_known_beforehand(toy_train: Dataset) -> None:
    model = XRLinear(XRLinearConfig(tree=SMALL)).fit(toy_train)
    assert planned_widths(len(toy_train.space), SMALL) == model.linear[0].tree.widths
    assert planned_widths(10, TreeConfig()) == (10,)
    assert planned_widths(100_000, TreeConfig(kind="kmeans", branching=100)) == (100, 10_000, 100_000)


LINEAR: dict[str, Callable[[Runtime], Method[Any]]] = {
    "xr-linear": lambda runtime: XRLinear(XRLinearConfig(tree=SMALL), runtime=runtime),
    "three trees": lambda runtime: XRLinear(XRLinearConfig(tree=SMALL, trees=3), runtime=runtime),
    "a given tree": lambda runtime: XRLinear(
        runtime=runtime, label_tree=LabelTree.from_groups([list(range(20)), list(range(20, 42))])
    ),
    "one-vs-all": lambda runtime: OneVsAll(runtime=runtime),
    "ensemble": lambda runtime: Ensemble([XRLinear(XRLinearConfig(tree=SMALL)), OneVsAll()], runtime=runtime),
}
NEURAL: dict[str, tuple[str, dict[str, Any]]] = {
    "lightxml flat": ("light", {}),
    "lightxml from a linear start": ("light", {"bootstrap": "linear"}),
    "lightxml with static negatives": ("light", {"mode": "groups", "negatives": "static"}),
    "cascadexml": ("cascade", {}),
    "cascadexml with everything": ("cascade", {"bootstrap": "linear", "sparse": True}),
    "xr-transformer": ("recursive", {}),
    "xr-transformer without refinement": ("recursive", {"bootstrap": "prior", "refine": False}),
    "x-transformer": ("matching", {}),
    "x-transformer by embeddings": ("matching", {"representation": "pifa-neural", "bootstrap": "prior"}),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_run_goes_by_its_plan(name: str, toy_train: Dataset) -> None:
    told = Kept()
    LINEAR[name](Runtime(threads=1, progress=told)).fit(toy_train)
    assert told.came == told.planned != []
    assert told.unplanned == []


@pytest.mark.parametrize("name", NEURAL)
def test_a_run_of_a_transformer_goes_by_its_plan(name: str, toy_train: Dataset) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    import tiny_methods

    kind, options = NEURAL[name]
    told = Kept()
    brief = {"optim": replace(tiny_methods.OPTIM, steps=1, epochs=0)}
    getattr(tiny_methods, kind)(**brief | options)(Runtime(threads=1, progress=told)).fit(toy_train)
    assert told.came == told.planned != []
    assert told.unplanned == []


def test_a_transformer_states_its_task_and_its_memory(toy_train: Dataset) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    import tiny_methods

    model = tiny_methods.light(dev_share=0.2)(Runtime(threads=1))
    plan = model.plan(toy_train)
    assert plan.task == "400 texts × 16 tokens, 6 epochs"  # 2 + 6 + 3 to 9 words, and two tokens at their ends
    assert plan.memory == model.memory_estimate(toy_train) > 0
    assert all(stage.seconds > 0 for stage in plan.stages)
