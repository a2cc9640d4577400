"""What is tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from treetop.apps.tuning.space import PRESETS, Space, space_for
from treetop.data import Corpus, Dataset
from treetop.methods.resolving import resolve
from treetop.methods.xr_linear import XRLinearConfig
from treetop.sparse import from_parts


@pytest.fixture
def space(toy_train: Dataset) -> Space:
    return space_for(toy_train)


@pytest.mark.parametrize("name", PRESETS)
def test_the_presets_are_settings_of_the_space(name: str, space: Space) -> None:
    assert space.config(space.presets()[name]) == resolve("xr-linear", preset_name=name)


def test_the_default_changes_nothing_and_every_answer_something(space: Space) -> None:
    assert space.config(space.default) == XRLinearConfig()
    configs = [space.config(setting) for setting in space.neighbours(space.default)]
    assert len(configs) == sum(len(question.answers) - 1 for question in space.questions)
    assert all(config != XRLinearConfig() for config in configs)
    assert all(one != other for place, one in enumerate(configs) for other in configs[:place])


def test_one_training_serves_all_free_answers(space: Space) -> None:
    thorough = space.presets()["thorough"]
    served = space.rankings(thorough)
    assert thorough in served
    assert {space.trained(setting) for setting in served} == {space.trained(thorough)}
    assert len(served) == 2
    trainings = [space.config(setting).linear for setting in served]
    assert replace(trainings[0], search=trainings[1].search) == trainings[1]
    assert trainings[0].search.beam == trainings[1].search.beam == 20


def test_features_are_not_asked_about_where_they_are_given(toy_train: Dataset) -> None:
    given = from_parts(np.arange(len(toy_train) + 1), np.zeros(len(toy_train), np.int32), None, columns=1)
    for corpus in (Corpus((), given), Corpus(toy_train.corpus.texts, given, "X.trn.npz")):
        asked = [question.name for question in space_for(replace(toy_train, corpus=corpus)).questions]
        assert "features" not in asked
        assert "tree" in asked


def test_names_of_labels_are_asked_about_where_there_are_some(toy_train: Dataset) -> None:
    def asked(data: Dataset) -> bool:
        return "look of labels" in [question.name for question in space_for(data).questions]

    assert not asked(replace(toy_train, space=type(toy_train.space)(toy_train.space.names)))
    assert asked(replace(toy_train, space=toy_train.space.with_texts({})))


def test_words(space: Space) -> None:
    assert space.words(space.default) == "the default"
    setting = space.named({"features": "parts", "ranking": "own"})
    assert setting is not None
    assert space.words(setting) == "features=parts, ranking=own"
    assert space.values(setting)["tfidf"] == {"char_wb_ngrams": [3, 5]}
    assert space.named({"features": "smells"}) is None


@pytest.mark.parametrize(
    ("texts", "labels", "flat"), [(2_500, 2_500, True), (60_000, 1_500, True), (60_000, 2_500, False)]
)
def test_a_tree_can_be_done_without_where_that_is_cheap(texts: int, labels: int, flat: bool) -> None:
    data = Dataset.build([f"word{n}" for n in range(texts)], [[f"label{n % labels}"] for n in range(texts)])
    assert (space_for(data).named({"tree": "none"}) is not None) == flat
