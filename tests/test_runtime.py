"""Where a run happens: threads, progress, and the meter of its cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import pytest

from treetop.errors import ConfigError
from treetop.progress import Lines, Logged, Progress, Terminal
from treetop.runtime import Meter, Runtime, available_cores, available_memory, is_leader


@pytest.mark.parametrize(("field", "value"), [("threads", -1), ("seed", -5)])
def test_negative_numbers_are_refused(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{field} is {value}"):
        Runtime(**{field: value})


@pytest.mark.parametrize(("field", "value"), [("threads", "2"), ("seed", 1.5), ("seed", True), ("device", 0)])
def test_what_is_no_number_or_name_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{field} is {value!r}.*; give"):
        Runtime(**{field: value})


def test_the_first_of_several_processes_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert is_leader()
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        assert is_leader() == (rank == 0)


def test_zero_threads_mean_all_cores() -> None:
    assert Runtime().cores == available_cores() >= 1
    assert Runtime(threads=7).cores == 7


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinity")
def test_cores_are_those_this_process_may_use() -> None:
    core = min(os.sched_getaffinity(0))
    script = (
        f"import os; os.sched_setaffinity(0, {{{core}}}); from treetop.runtime import Runtime; print(Runtime().cores)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "1"


def test_memory_is_a_plausible_number() -> None:
    assert 2**20 < available_memory() <= 2**63


def test_a_silent_bar_needs_no_terminal_and_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Runtime().bar("reading", 10) as advance:
        advance()
        advance(9, note="done")
    assert capsys.readouterr() == ("", "")


def test_progress_is_a_bar_on_a_terminal_lines_elsewhere_and_the_log_of_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert type(Runtime(progress=True).told) is Lines  # standard error of a test is no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert type(Runtime(progress=True).told) is Terminal
    assert type(Runtime().told) is Logged
    own = Progress()
    assert Runtime(progress=own).told is own
    assert Runtime().told == Runtime(seed=3).told != own
    assert Runtime(progress=own) == Runtime()  # who is told is no part of what is done


def test_an_error_passes_through_a_bar() -> None:
    for progress in (True, False):
        with pytest.raises(KeyError), Runtime(progress=progress).bar("reading", 3):
            raise KeyError


def test_the_meter_tells_work_from_waiting() -> None:
    """Against clocks read just around it, so that it does not matter how busy the machine is."""
    before = sum(os.times()[:4])
    with Meter() as waiting:
        time.sleep(0.2)
    assert waiting.wall_seconds >= 0.2
    assert waiting.cpu_seconds <= sum(os.times()[:4]) - before + 0.02  # the clock ticks in hundredths
    with Meter() as working:
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
    assert working.cpu_seconds >= 0.15
    assert working.wall_seconds >= 0.15


def test_the_meter_counts_children_and_memory() -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass"
    with Meter() as meter:
        block = bytearray(2**26)
        block[:: 2**12] = b"x" * 2**14
        subprocess.run([sys.executable, "-c", work], check=True)
    assert meter.cpu_seconds >= 0.25
    assert meter.peak_rss_mib > 64


def _fail_after(seconds: float) -> None:
    time.sleep(seconds)
    raise ZeroDivisionError


def test_the_meter_measures_what_failed_too() -> None:
    meter = Meter()
    with pytest.raises(ZeroDivisionError), meter:
        _fail_after(0.01)
    assert meter.wall_seconds >= 0.01
