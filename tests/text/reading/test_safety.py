from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from treetop.text.reading import safety
from treetop.text.reading.engines import ENGINES

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
DIES_WITH_AMX = f"import os\nif 'ONEDNN_MAX_CPU_ISA' not in os.environ:\n  {DIES}"


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """An engine whose trial can be chosen, and a count of how often it ran."""
    engine = SimpleNamespace(trial="", packages=("numpy",), runs=tmp_path / "runs")
    monkeypatch.setitem(ENGINES, "some", engine)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "")
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    safety._answer.cache_clear()
    return engine


def test_a_safe_engine_changes_nothing(trial: SimpleNamespace) -> None:
    trial.trial = "pass"
    assert safety.make_safe("some")
    assert "ONEDNN_MAX_CPU_ISA" not in os.environ


def test_instructions_that_kill_are_switched_off(trial: SimpleNamespace) -> None:
    trial.trial = DIES_WITH_AMX
    assert safety.make_safe("some")
    assert os.environ["ONEDNN_MAX_CPU_ISA"] == "AVX512_CORE_FP16"


def test_an_engine_that_dies_anyway_is_not_safe(trial: SimpleNamespace) -> None:
    trial.trial = DIES
    assert not safety.make_safe("some")


@pytest.mark.parametrize("end", ["", DIES])
def test_the_answer_is_remembered(trial: SimpleNamespace, end: str) -> None:
    trial.trial = f"open({str(trial.runs)!r}, 'a').write('x')\n{end}"
    first = safety.make_safe("some")
    tried = trial.runs.read_text()
    safety._answer.cache_clear()  # as in another process
    assert safety.make_safe("some") == first
    assert trial.runs.read_text() == tried


def test_a_damaged_memory_is_asked_again(trial: SimpleNamespace, tmp_path: Path) -> None:
    trial.trial = DIES
    (tmp_path / "treetop").mkdir()
    (tmp_path / "treetop" / safety.ANSWERS).write_text("[1, 2")
    assert not safety.make_safe("some")
