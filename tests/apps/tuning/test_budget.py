"""How much may be spent."""

from __future__ import annotations

import pytest

from treetop.apps.tuning.budget import Budget, in_words
from treetop.errors import ConfigError


def test_time_with_a_share_and_a_reserve() -> None:
    now = [0.0]
    budget = Budget(100, clock=lambda: now[0])
    now[0] = 30
    assert budget.has(0.5)
    assert budget.has(0.5, 20)
    assert not budget.has(0.5, 21)
    assert not budget.has(0.5, 20, reserve=1)
    now[0] = 101
    assert not budget.has(1.0)


def test_trials_whatever_they_take() -> None:
    budget = Budget(trials=4, clock=iter([0.0, 1e9, 1e9]).__next__)
    assert budget.has(0.5, 1e9)
    budget.done = 2
    assert not budget.has(0.5)
    assert budget.has(1.0, 1e9)
    assert str(budget) == "4 trials"
    assert budget.limit == float("inf")


@pytest.mark.parametrize(("text", "seconds"), [("300", 300), ("90s", 90), ("1.5h", 5400), (" 2 min ", 120)])
def test_words_for_time(text: str, seconds: float) -> None:
    assert in_words(text).seconds == seconds
    assert not in_words(text).cpu


def test_time_of_processors() -> None:
    budget = in_words("5m cpu")
    assert (budget.seconds, budget.cpu, str(budget)) == (300, True, "300 CPU-seconds")
    assert in_words("90cpu").seconds == 90


def test_a_larger_budget_than_the_usual_asks_for_more() -> None:
    assert Budget(60).growth(50) == Budget(300).growth(50) == Budget(trials=50).growth(50) == 1
    assert Budget(1500).growth(50) == Budget(trials=250).growth(50) == 5


@pytest.mark.parametrize("text", ["", "soon", "-5", "0", "5 days", "nan", "1e3"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ConfigError, match="give a time above zero"):
        in_words(text)


def test_nothing_to_spend() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        Budget(trials=0)
    with pytest.raises(ConfigError, match="more than none"):
        Budget(0)
