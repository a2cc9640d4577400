from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Callable

import pytest

from listening import Clock
from treetop.progress import Lines, Logged, Plan, Progress, Stage, Terminal


class Heard(Lines):
    """Lines that are kept instead of written."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


PLAN = Plan([Stage("read", 10), Stage("learn", 990)], 2**30, "many texts")


def test_a_line_per_stage_and_one_every_thirty_seconds_at_most() -> None:
    clock = Clock()
    heard = Heard(clock)
    with heard.following(lambda: PLAN):
        with heard.stage("read", 10) as advance:
            for _ in range(10):
                clock.wait(1)
                advance()
        with heard.stage("learn", 1000) as advance:
            for step in range(1000):
                clock.wait(1)
                advance(1, note=f"loss {step}")
    assert heard.lines[:3] == [
        "many texts: about 17 min, 1.0 GiB of memory (read, learn)",
        "read (1 of 2): about 17 min left",
        "learn (2 of 2): 10 s so far, about 16 min left",
    ]
    assert heard.lines[3] == "4 % · learn · 30 of 1,000 · loss 29 · 40 s so far, about 16 min left"
    assert len(heard.lines) == 3 + 1000 // 30


def test_a_short_run_is_not_worth_a_line() -> None:
    clock = Clock()
    heard = Heard(clock)
    for _ in range(3):
        with heard.following(lambda: Plan([Stage("read", 1)])), heard.stage("read", 2) as advance:
            clock.wait(12)
            advance()
            advance()
    assert heard.lines == []
    with heard.stage("a stage alone", 4) as advance:  # that takes long after all
        for _ in range(4):
            clock.wait(20)
            advance()
    assert heard.lines == ["50 % · a stage alone · 2 of 4 · 40 s so far, about 40 s left",
                           "100 % · a stage alone · 4 of 4 · 80 s so far, about 1 s left"]  # fmt: skip


def test_a_plan_within_a_plan_is_part_of_it() -> None:
    heard = Heard(Clock())

    def never() -> Plan:
        raise AssertionError

    with heard.following(lambda: PLAN), heard.following(never), heard.stage("learn"):
        pass
    assert [line.split(" ")[0] for line in heard.lines] == ["many", "learn"]


def test_nobody_is_told_and_no_plan_is_made_without_a_listener(capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> Plan:
        raise AssertionError

    for quiet in (Progress(), Logged()):
        with quiet.following(never), quiet.stage("learn", 10) as advance:
            advance(5, note="half")
    assert capsys.readouterr() == ("", "")


def test_programs_read_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "treetop")
    told = Logged()
    with told.following(lambda: Plan([Stage("read", 1)], 0, "few texts")), told.stage("read"):
        pass
    assert [(record.name, record.levelname) for record in caplog.records] == [("treetop", "INFO")] * 2
    assert caplog.messages[0].startswith("few texts: about 1 s")
    assert caplog.messages[1].startswith("read (1 of 1)")


def test_lines_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines().following(lambda: PLAN):
        pass
    assert capsys.readouterr() == ("", PLAN.describe() + "\n")


def test_an_error_passes_through_and_the_next_run_begins_anew() -> None:
    heard = Heard(Clock())
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), heard.following(lambda: PLAN), heard.stage("read", 3):
            raise KeyboardInterrupt
        assert heard.course is None
    assert heard.lines[:2] == heard.lines[2:]


@pytest.mark.parametrize("kind", [Progress, Lines, Logged, Terminal])
def test_copies_begin_anew(kind: type[Progress]) -> None:
    told = kind()
    with told.stage("learn", 3):
        for twin in (copy.deepcopy(told), pickle.loads(pickle.dumps(told))):
            assert type(twin) is kind
            assert twin == told
            assert repr(twin) == f"{kind.__name__}()"
            assert twin.course is None
