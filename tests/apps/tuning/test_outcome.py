"""What follows from the trials."""

from __future__ import annotations

import numpy as np
import pytest

from treetop.apps.tuning.limits import Limits
from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.space import Answer, Question, Setting, Space
from treetop.apps.tuning.trial import Trial
from treetop.errors import ConfigError
from trials import trial

SPACE = Space(
    (
        Question("colour", (Answer("red", ""), Answer("green", ""))),
        Question("size", (Answer("small", ""), Answer("large", ""))),
    )
)
TEXTS = 1000
NONE = Limits()


def with_hits(setting: Setting, hits: int, *, also: int = 0, texts: int = 100, weights: int = 10) -> Trial:
    """Right for the first texts, and for some of the last."""
    right = np.zeros(TEXTS)
    right[:hits] = 1
    right[TEXTS - also :] = 1
    return trial(setting, right.tolist(), texts=texts, weights=weights)


def outcome(*trials: Trial, limits: Limits = NONE) -> Outcome:
    return Outcome(SPACE, trials, ("p@1",), 1.0, limits=limits)


def test_the_simplest_within_one_standard_error() -> None:
    """Two settings that differ on few texts are told apart by less than two that differ on many."""
    best, near, far = with_hits((1, 1), 500), with_hits((0, 0), 480, also=19), with_hits((0, 0), 490)
    assert outcome(best, near).chosen is near
    assert outcome(best, far).chosen is best
    assert outcome(far, best).best is best


def test_of_equally_simple_ones_the_smaller() -> None:
    large, small = with_hits((1, 0), 498, also=2, weights=20), with_hits((0, 1), 498, also=2, weights=10)
    found = outcome(with_hits((1, 1), 501), large, small)
    assert found.as_good == [found.best, large, small]
    assert found.chosen is small


def test_only_trials_on_most_texts_decide() -> None:
    few, many = with_hits((0, 0), 900, texts=50), with_hits((1, 0), 300)
    assert outcome(few, many).chosen is many
    assert outcome(few, many).default is None
    assert outcome(few).default is few


def test_of_trials_on_as_many_texts_those_judged_on_most_decide() -> None:
    lucky = with_hits((1, 0), 900)
    first, again = (trial((1, 1), [1, 0] * size) for size in (500, 900))
    found = outcome(lucky, first, again)
    assert found.chosen is again
    assert found.chosen_at_first is first


def test_a_limit_of_weights() -> None:
    large, small, tiny = (with_hits((1, 1), 700, weights=30), with_hits((1, 0), 600, weights=20), with_hits((0, 0), 10))
    assert outcome(large, small, tiny).chosen is large
    assert outcome(large, small, tiny, limits=Limits(weights=20)).chosen is small
    assert outcome(large, small, tiny, limits=Limits(weights=5)).chosen is tiny


def test_what_mattered_is_a_pair_that_differs_in_nothing_else() -> None:
    found = outcome(
        with_hits((0, 0), 300), with_hits((1, 0), 400), with_hits((1, 1), 390), with_hits((0, 1), 999, texts=50)
    ).mattered()
    assert [(one.question.name, one.answer.name, one.texts) for one in found] == [
        ("colour", "green", 100),
        ("size", "large", 100),
    ]
    assert [round(1000 * one.gain.value) for one in found] == [100, -10]


def test_no_trial_is_one_clear_line() -> None:
    with pytest.raises(ConfigError, match="the budget ended before the first trial did"):
        outcome()
