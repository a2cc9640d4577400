"""A slice of every drill, and that drills count what goes wrong."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="needs the extra 'neural'")
if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

from drills.current import current_model
from drills.disks import can_mount, short_of_disk
from drills.drill import MODELS, ROOT, Drill, Outcome, run
from drills.flipping import flip_bytes
from drills.forks import die_in, in_child
from drills.hostile import try_mutation
from drills.page import PROMISES, record, write_page
from drills.patience import TooLong, within
from drills.plan import DRILLS
from drills.resuming import resume_from_damage
from drills.serving import UnderLoad
from drills.training import any_threads, kill_a_training

LINEAR = ("xr-linear", "one-vs-all", "ensemble")


@pytest.mark.parametrize("model", sorted(path.name for path in MODELS.iterdir() if path.is_dir()))
def test_hostile_model_folders_are_refused_or_answer(model: str, tmp_path: Path) -> None:
    for seed in range(30 if model in LINEAR else 6):
        assert try_mutation(MODELS / model, tmp_path, seed) == ""


@pytest.mark.parametrize(
    ("model", "seed"),
    [("xr-transformer", 102969), ("cascadexml", 110887), ("xr-transformer", 112083), ("lightxml", 119247),
     ("cascadexml", 119714)],
)  # fmt: skip
def test_what_hostile_folders_have_broken(model: str, seed: int, tmp_path: Path) -> None:
    """Tokens and kinds of tokens without an embedding, and more layers than anyone can make."""
    assert try_mutation(MODELS / model, tmp_path, seed) == ""


@pytest.mark.parametrize("model", LINEAR)
def test_hostile_folders_of_today_are_refused_or_answer(model: str, tmp_path: Path) -> None:
    """With probabilities, label names and kept texts; their manifests gone, or they would notice nearly all of it."""
    for seed in range(40):
        assert try_mutation(current_model(model), tmp_path, seed) == ""


def test_flipped_bytes_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drills.flipping.current_models", lambda: (current_model("xr-linear"),))
    monkeypatch.setattr("drills.flipping.FLIPS", 40)
    for number in range(0, 400, 60):
        assert flip_bytes(tmp_path, number) == ""


def test_a_byte_that_nobody_notices_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drills.flipping.current_models", lambda: (current_model("xr-linear"),))
    monkeypatch.setattr("treetop.store.Folder.verify", lambda folder, threads=0: None)
    assert "not noticed" in flip_bytes(tmp_path, 0)


def test_disks_that_are_full_or_read_only(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("no disk of our own can be had here")
    for number in (12, 18, 29, 48, 53, 81):  # saves, and a command
        assert short_of_disk(tmp_path, number) == ""


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(path.name for path in MODELS.iterdir() if path.is_dir()))
def test_many_hostile_model_folders_are_refused_or_answer(model: str, tmp_path: Path) -> None:
    for seed in range(1000, 3000 if model in LINEAR else 1300):
        assert try_mutation(MODELS / model, tmp_path, seed) == ""


def test_damaged_inputs_are_one_clear_line_at_worst() -> None:
    found = run(DRILLS["inputs"], seconds=60, rounds=800)
    assert found.failures == ()
    assert found.rounds == 800


def test_eight_threads_get_right_answers() -> None:
    found = run(DRILLS["soak"], seconds=600, rounds=1)
    assert found.failures == ()
    assert found.facts["predictions"] > 0


@pytest.mark.parametrize("name", ["killed-save", "no-room", "writers", "replaced"])
def test_a_save_leaves_a_whole_model_whatever_happens(name: str, tmp_path: Path) -> None:
    for number in range(3):
        assert DRILLS[name].round(tmp_path, number) == ""


@pytest.mark.parametrize("number", range(7))
def test_a_killed_training_can_be_begun_again(number: int, tmp_path: Path) -> None:
    assert kill_a_training(tmp_path, number) == ""


@pytest.mark.parametrize("clock", [time.CLOCK_MONOTONIC, time.CLOCK_PROCESS_CPUTIME_ID])
def test_a_process_dies_at_its_moment(clock: int) -> None:
    def wait() -> None:
        die_in(clock, 0.01)
        while True:
            pass

    assert os.WTERMSIG(in_child(wait)) == signal.SIGKILL


def test_what_computes_for_too_long_is_ended() -> None:
    with pytest.raises(TooLong), within(0.05):
        sum(iter(lambda: 1, 0))


def test_what_waits_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drills.patience.TICKS", 1)
    with pytest.raises(TooLong), within(60):
        threading.Event().wait()


def test_a_round_that_is_silent_for_too_long_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drills.drill.PATIENCE", 1)
    found = run(DRILLS["serving"], seconds=0)  # whose rounds take a minute and a half
    assert "round 0: the process ended with -9" in found.failures[0]


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    for number in (0, 4, 8):  # of the first method
        assert resume_from_damage(tmp_path, number) == ""


def test_linear_models_do_not_depend_on_threads(tmp_path: Path) -> None:
    assert any_threads(tmp_path, 0) == ""


def test_a_service_under_load_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    served = UnderLoad(tmp_path)
    try:
        assert served.round(0, spell=0) == ""
    finally:
        served.end()
    assert served.facts()["feedback lines"] > 0


def test_a_process_that_is_lost_is_a_failure() -> None:
    found = run(Drill("nobody", "", "", lambda place, number: ""), seconds=0)
    assert found.rounds == 1
    assert "round 0: the process ended with 1" in found.failures[0]


def test_the_page_counts_what_was_recorded(tmp_path: Path) -> None:
    record(tmp_path, Outcome("writers", 1200, (), 3.0), date="2026-01-02", version="1")
    record(tmp_path, Outcome("writers", 34, ("lost", "torn"), 3.0), date="2026-02-03", version="1")
    text = write_page(tmp_path, tmp_path).read_text(encoding="utf-8")
    assert "| one of the three, every byte verified | 1,234 | 2 | 0 | 2026-02-03 |" in text
    assert "| the same files | 0 | 0 | 0 | not yet |" in text


def test_the_tests_on_the_page_are_there() -> None:
    assert not [test for _, tests in PROMISES for test in tests.split() if not (ROOT / "tests" / test).exists()]


def test_the_page_in_the_docs_is_the_newest(tmp_path: Path) -> None:
    made = write_page(ROOT / "drills" / "results", tmp_path).read_text(encoding="utf-8")
    assert (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8") == made, "run python -m drills page"
