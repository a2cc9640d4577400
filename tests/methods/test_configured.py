"""Methods are made of settings by name, all alike, and show what differs from the defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from treetop.data import Dataset
from treetop.errors import ConfigError, NotFittedError
from treetop.labels import LabelTree, TreeConfig
from treetop.linear import SolverConfig
from treetop.methods import METHODS, Method, method_class
from treetop.methods.ensemble import Ensemble, EnsembleConfig
from treetop.methods.one_vs_all import OneVsAll, OneVsAllConfig
from treetop.methods.resolving import resolve
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.presets.registry import PRESETS
from treetop.runtime import Runtime


def test_settings_by_name() -> None:
    model = XRLinear(preset="thorough", trees=3, tree={"max_leaf": 50})
    assert model.config == resolve("xr-linear", preset_name="thorough", assignments=("trees=3", "tree.max_leaf=50"))
    assert model.config.tree.branching == 64  # the preset's, which the table does not name


@pytest.mark.parametrize("entry", PRESETS.values(), ids=lambda entry: entry.name)
def test_a_preset_is_what_the_command_line_makes_of_it(entry: Any) -> None:
    if METHODS[entry.method].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    made = method_class(entry.method)(preset=entry.name)
    assert made.config == resolve(entry.method, preset_name=entry.name)


def test_a_setting_may_be_a_table_a_ready_part_or_a_long_name() -> None:
    wanted = XRLinearConfig(tree=TreeConfig(max_leaf=50))
    assert XRLinear(tree={"max_leaf": 50}).config == wanted
    assert XRLinear(tree=TreeConfig(max_leaf=50)).config == wanted
    assert XRLinear(tree__max_leaf=50).config == wanted
    assert XRLinear(XRLinearConfig(tree={"max_leaf": 50})).config == wanted  # type: ignore[arg-type]


def test_settings_are_written_over_a_ready_configuration() -> None:
    ready = XRLinearConfig(trees=2, tree=TreeConfig(max_leaf=7))
    assert XRLinear(ready).config is not None
    changed = XRLinear(config=ready, tree={"branching": 3}).config
    assert (changed.trees, changed.tree.max_leaf, changed.tree.branching) == (2, 7, 3)
    assert (ready.tree.branching, XRLinear(ready).config) == (16, ready)


def test_a_part_keeps_what_the_method_prefers() -> None:
    assert XRLinear(tfidf={"min_df": 2}).config.tfidf.sublinear_tf
    assert XRLinearConfig(tfidf={"min_df": 2}).tfidf.sublinear_tf  # type: ignore[arg-type]
    assert OneVsAll(solver={"c_positive": 2}).config.solver == SolverConfig(c_positive=2.0, threshold=0.01)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"threshold": 0.1}, "unknown option 'threshold'; did you mean 'linear.solver.threshold'?"),
        ({"seed": 3}, r"seed belongs to the runtime: runtime=Runtime\(seed=3\)"),
        ({"runtime": {"seed": 3}}, r"give a Runtime, as Runtime\(seed=1, threads=2\)"),
        ({"config": {"trees": 3}}, "not a dict; settings and a preset go by name, as trees=3"),
        ({"treees": 3}, "unknown option 'treees'; did you mean 'trees'"),
        ({"tree": {"max_lef": 3}}, r"unknown option 'tree\.max_lef'; did you mean 'max_leaf'"),
        ({"tree__max_lef": 3}, r"unknown option 'tree\.max_lef'; did you mean 'max_leaf'"),
        ({"trees": "3"}, "'trees' is '3'; expected int"),
        ({"trees": True}, "'trees' is True; expected int"),
        ({"trees": 0}, "trees is 0; grow at least one"),
        ({"tree": 3}, "'tree' is 3; expected TreeConfig, or a table of its settings: kind, max_leaf, "),
        ({"tree": 3, "tree__max_leaf": 3}, "'tree__max_leaf' sets something inside 'tree', which is 3"),
        ({"representation": "pifo"}, "'representation' is 'pifo'; choose one of 'pifa'"),
        ({"preset": "thoro"}, "did you mean 'thorough'"),
        ({"preset": "dismec"}, "preset 'dismec' is for the method 'one-vs-all', not 'xr-linear'"),
        ({"preset": "thorough", "config": XRLinearConfig()}, "give one of them"),
        ({"config": OneVsAllConfig()}, "XRLinear takes a XRLinearConfig, not a OneVsAllConfig"),
    ],
)
def test_mistakes_are_seen_at_once(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        XRLinear(**settings)


@pytest.mark.parametrize("name", [name for name, record in METHODS.items() if not record.has("members")])
def test_a_configuration_is_as_strict_as_a_file(name: str) -> None:
    if METHODS[name].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    config_class = method_class(name).config_class
    with pytest.raises(ConfigError, match="'tfidf' is 3; expected TfidfConfig"):
        config_class(tfidf=3)
    assert config_class(tfidf={"min_df": 4}).tfidf.min_df == 4


def test_numbers_of_a_grid() -> None:
    model = XRLinear(
        trees=np.int64(2), tree={"spherical": np.bool_(False)}, linear={"solver": {"eps": np.float32(0.5)}}
    )
    assert (type(model.config.trees), model.config.tree.spherical) == (int, False)
    assert model.config.linear.solver.eps == 0.5


def test_a_given_tree(toy_train: Dataset) -> None:
    tree = LabelTree.flat(len(toy_train.space))
    for model in (XRLinear(label_tree=tree), XRLinear(tree=tree)):  # the second as it was written before
        assert model.fit(toy_train).label_tree() == tree
        assert model.config == XRLinearConfig()


def test_an_ensemble_is_made_like_the_others() -> None:
    members: list[Method[Any]] = [XRLinear(), OneVsAll()]
    config = EnsembleConfig(fuser="rank_average")
    made = [
        Ensemble(members, config),
        Ensemble(members=members, fuser="rank_average"),
        Ensemble(members, fuser=config.fuser),
    ]
    assert all(one.config == config and one.members is members for one in made)
    assert Ensemble(config).config == config
    fitted = [member.fit(["red apple", "heavy rain"], [["fruit"], ["weather"]]) for member in members]
    assert Ensemble.of(fitted, fuser="rank_average").config == config
    with pytest.raises(ConfigError, match="1 weights for 2 members"):
        Ensemble(members, weights=[1.0])


@pytest.mark.parametrize("name", METHODS)
def test_parameters_there_and_back(name: str) -> None:
    if METHODS[name].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    method = method_class(name)
    model = method(runtime=Runtime(threads=1))
    again = method(**model.get_params(deep=False))
    assert again.config == model.config
    assert again.runtime == model.runtime
    assert type(clone(model)) is method
    assert clone(model).config == model.config
    deep = model.get_params()
    assert deep["runtime__threads"] == 1
    assert model.set_params(**deep).get_params().keys() == deep.keys()


def test_set_params_reaches_inside_and_forgets_what_was_learned(toy_train: Dataset) -> None:
    model = XRLinear().fit(toy_train)
    assert model.set_params(trees=2, tree__max_leaf=9, runtime__threads=1) is model
    assert (model.config.trees, model.config.tree.max_leaf, model.runtime) == (2, 9, Runtime(threads=1))
    with pytest.raises(NotFittedError):
        model.predict(["a"])
    with pytest.raises(ConfigError, match="did you mean 'trees'"):
        model.set_params(treess=3)
    assert model.set_params(tree=TreeConfig(max_leaf=3), tree__branching=2).config.tree.branching == 2


MODELS = {
    "XRLinear()": XRLinear(),
    "XRLinear(tree={'max_leaf': 50}, trees=3)": XRLinear(trees=3, tree={"max_leaf": 50}),
    "XRLinear(trees=2, runtime=Runtime(seed=7))": XRLinear(trees=2, runtime=Runtime(seed=7)),
    "XRLinear(tfidf={'word_ngrams': (1, 2)})": XRLinear(tfidf__word_ngrams=[1, 2]),
    "Ensemble(fuser='round_robin', members=[XRLinear(trees=2), OneVsAll()])": Ensemble(
        [XRLinear(trees=2), OneVsAll()], fuser="round_robin"
    ),
}


@pytest.mark.parametrize("text", MODELS)
def test_the_text_of_a_model_is_the_call_that_makes_it(text: str) -> None:
    assert repr(MODELS[text]) == text
    names = {"XRLinear": XRLinear, "OneVsAll": OneVsAll, "Ensemble": Ensemble, "Runtime": Runtime}
    made = eval(text, names)
    assert isinstance(made, Method)
    assert repr(made) == text


def test_notebooks_show_the_call_and_what_was_learned(toy_train: Dataset) -> None:
    model = XRLinear(tree={"kind": "kmeans"})
    assert "not fitted" in model._repr_html_()
    shown = model.fit(toy_train)._repr_html_()
    assert "XRLinear(tree={&#x27;kind&#x27;: &#x27;kmeans&#x27;})" in shown
    assert "<td>training texts</td><td>400</td>" in shown
