from __future__ import annotations

import pytest

from listening import Clock
from treetop.progress.course import Course
from treetop.progress.plan import Stage


def course(*stages: tuple[str, float]) -> tuple[Course, Clock]:
    clock = Clock(100.0)
    return Course([Stage(*stage) for stage in stages], clock), clock


def test_before_anything_has_happened_the_plan_is_believed() -> None:
    run, clock = course(("read", 10), ("learn", 30))
    assert (run.left, run.share) == (40, 0)
    run.begin("read", None)
    clock.wait(4)
    assert (run.left, run.share) == (36, 0.1)


def test_a_stage_goes_on_as_it_has_gone_so_far() -> None:
    run, clock = course(("learn", 10))
    leg = run.begin("learn", 100)
    clock.wait(20)
    run.move(leg, 50, "")
    assert run.left == pytest.approx(20)
    assert run.share == pytest.approx(0.5)


def test_the_first_steps_do_not_overrule_the_plan() -> None:
    run, clock = course(("learn", 100))
    leg = run.begin("learn", 1000)
    clock.wait(1)  # the first of them warms up: ten times as slow as planned
    run.move(leg, 1, "")
    assert 100 < run.left < 200


def test_the_time_left_does_not_vanish_in_a_step_that_takes_long() -> None:
    run, clock = course(("learn", 100), ("rank", 50))
    leg = run.begin("learn", 10)
    clock.wait(10)
    run.move(leg, 1, "")
    seen = []
    for _ in range(100):
        clock.wait(10)
        seen.append(run.left)
    assert all(left >= 50 + 45 for left in seen)
    assert seen[0] == pytest.approx(50 + 80)


def test_a_stage_that_takes_longer_than_planned_is_not_over_soon() -> None:
    run, clock = course(("learn", 10))
    run.begin("learn", None)
    clock.wait(1000)
    assert run.left >= 100
    assert run.share < 0.9


def test_stages_of_one_kind_are_misjudged_alike() -> None:
    run, clock = course(("embed", 10), ("tune level 0", 100), ("embed", 10), ("tune level 1", 100))
    leg = run.begin("embed", None)
    clock.wait(30)
    run.end(leg)
    leg = run.begin("tune level 0", 10)
    clock.wait(50)
    run.move(leg, 10, "")
    run.end(leg)
    assert run.left == pytest.approx(30 + 50)


def test_one_misjudged_trifle_does_not_change_the_rest() -> None:
    run, clock = course(("tf-idf", 1), ("tune", 1000))
    leg = run.begin("tf-idf", None)
    clock.wait(10)
    run.end(leg)
    assert run.left == pytest.approx(1000 * 110.1 / 101.1, rel=1e-3)


def test_needless_stages_are_passed_over_and_unplanned_ones_cost_nothing() -> None:
    run, _ = course(("grow", 10), ("level 0", 10), ("level 1", 10), ("save", 10))
    run.end(run.begin("grow", None))
    outer = run.begin("level 1", 10)
    inner = run.begin("a look at dev texts", 5)
    assert (outer.number, inner.number) == (3, 0)
    assert run.current is outer
    assert [stage.title for stage in run.ahead] == ["save"]
    run.end(inner)
    run.end(outer)
    assert run.under_way == []


def test_what_an_earlier_run_did_is_not_taken_for_speed() -> None:
    run, clock = course(("tune", 100))
    leg = run.begin("tune", 100, before=80)
    clock.wait(10)
    run.move(leg, 10, "")
    assert leg.share == 0.9
    assert run.left == pytest.approx(10)
    again, clock = course(("tune 0", 100), ("tune 1", 100))
    again.end(again.begin("tune 0", 100, before=100))
    assert again.left == pytest.approx(100)


def test_the_share_never_falls() -> None:
    run, clock = course(("a", 10), ("b", 10))
    leg = run.begin("a", 10)
    clock.wait(9)
    run.move(leg, 9, "")
    before = run.share
    clock.wait(500)
    run.move(leg, 1, "")
    run.end(leg)
    assert run.share >= before > 0.4


def test_a_stage_of_unknown_length_foresees_nothing() -> None:
    run, clock = course(("read", 0))
    leg = run.begin("read", None)
    clock.wait(5)
    assert not run.foreseen
    assert run.share == 0
    run.end(leg)
    run, clock = course(("read", 0))
    leg = run.begin("read", 10)
    clock.wait(5)
    run.move(leg, 5, "")
    assert run.foreseen
    assert run.left == pytest.approx(5)
