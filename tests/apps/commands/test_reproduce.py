from __future__ import annotations

from pathlib import Path

import pytest

from shell import complain
from small_release import TINY, write_release
from tiny_methods import encoder
from treetop.apps.cli import main
from treetop.data import Dataset


def test_on_the_command_line(
    toy_train: Dataset,
    toy_test: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    data = write_release(tmp_path, toy_train, toy_test)
    arguments = ["reproduce", "lightxml", "Eurlex-4K", "--data", data, "--out", tmp_path / "run", "--single"]
    arguments += ["--scale", "0.4", "--encoder", encoder().name, "--threads", "1"]
    monkeypatch.setattr("sys.argv", ["treetop", *map(str, arguments), *(w for s in TINY for w in ("--set", s))])
    main()
    said = capfd.readouterr()
    assert "lightxml on Eurlex-4K" in said.out
    assert "87.63" in said.out
    assert "these are not the data of Eurlex-4K: 400 texts" in said.err
    wrong: list[str | Path] = ["reproduce", "lightxml", "nowhere", "--data", data]
    assert complain(wrong, monkeypatch, capfd).startswith("error: no paper reports lightxml on nowhere")
