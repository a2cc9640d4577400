"""The additive model of what answers do."""

from __future__ import annotations

import pytest

from treetop.apps.tuning.effects import Effects
from treetop.apps.tuning.space import Answer, Question, Space
from trials import trial

SPACE = Space(
    (
        Question("colour", (Answer("red", ""), Answer("green", ""), Answer("blue", ""))),
        Question("size", (Answer("small", ""), Answer("large", ""))),
    )
)
ALONE = [trial(setting, [0.0, 1.0]) for setting in ((0, 0), (1, 0), (2, 0), (0, 1))]


def test_effects_add_up_to_what_was_not_tried() -> None:
    found = Effects(SPACE, ALONE, [10.0, 14.0, 8.0, 13.0])
    assert found.of((1, 1)) == pytest.approx(found.of((1, 0)) + found.of((0, 1)))
    assert found.best_first()[0] == (1, 1)
    assert found.best_first()[-1] == (2, 0)
    assert found.expected((0, 0)) == pytest.approx(10, abs=0.5)


def test_what_nobody_tried_is_expected_to_do_nothing() -> None:
    found = Effects(SPACE, ALONE[:2], [10.0, 14.0])
    assert found.of((2, 1)) == 0
    order = found.best_first()
    assert order.index((0, 0)) < order.index((0, 1)) < order.index((2, 1))  # of equal ones that with fewer changes


def test_more_texts_count_for_more() -> None:
    many = [trial(setting, [0.0, 1.0], texts=1600) for setting in ((0, 0), (0, 1))]
    found = Effects(SPACE, [*ALONE, *many], [10.0, 10.0, 10.0, 14.0, 30.0, 28.0])
    assert found.of((0, 1)) < 0
    assert found.expected((0, 0)) == pytest.approx(30, abs=0.5)
