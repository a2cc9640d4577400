"""A search on the toy texts, done once."""

from __future__ import annotations

import pytest

from treetop.apps.tuning import Budget, Outcome, Wish, tune
from treetop.apps.tuning.folds import Fold
from treetop.data import Dataset
from treetop.runtime import Runtime


@pytest.fixture(scope="package")
def outcome(toy_train: Dataset, toy_test: Dataset) -> Outcome:
    return tune([Fold(toy_train, toy_test)], Wish(budget=Budget(trials=16)), Runtime(threads=1))
