"""Inputs that fuzzing began with, and those that broke something once; and a little fuzzing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="needs the extra 'neural'")

from drills.fuzzing import CORPUS, TARGETS, fuzz, try_bytes

KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: str(path.relative_to(CORPUS)))
def test_kept_inputs_break_nothing(path: Path, tmp_path: Path) -> None:
    try_bytes(path.parent.name, tmp_path, path.read_bytes())


def test_every_target_has_a_corpus() -> None:
    assert {path.parent.name for path in KEPT} >= set(TARGETS)


def test_what_is_not_ours_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(place: Path, content: bytes) -> object:
        raise KeyError(content)

    monkeypatch.setitem(TARGETS, "texts", fail)
    with pytest.raises(RuntimeError, match="texts: KeyError: b'x'"):
        try_bytes("texts", tmp_path, b"x")


@pytest.mark.parametrize("number", [2, 16])
def test_some_fuzzing(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("atheris")
    monkeypatch.setattr("drills.fuzzing.EXECUTIONS", 150)
    assert fuzz(tmp_path, number) == ""
