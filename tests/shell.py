"""The command line as tests run it: as a program of its own, or in this process where torch would take seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from treetop.apps.cli import main
from treetop.data import Dataset


def run(*arguments: str | Path, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treetop", *map(str, arguments)]
    env = os.environ | environment
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False, env=env)


def write_jsonl(path: Path, dataset: Dataset) -> None:
    names = dataset.space.names
    with path.open("w", encoding="utf-8") as file:
        for row, text in enumerate(dataset.corpus.texts):
            labels = [names[label] for label in dataset.labels[[row]].indices.tolist()]
            file.write(json.dumps({"id": f"t{row}", "text": text, "labels": labels}) + "\n")


def complain(arguments: list[str | Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """What the command line says in its one line before it exits with 2; in this process, as torch takes seconds."""
    monkeypatch.setattr(sys, "argv", ["treetop", *map(str, arguments)])
    capfd.readouterr()
    with pytest.raises(SystemExit) as exit_:
        main()
    said = capfd.readouterr().err
    assert exit_.value.code == 2, said
    assert len(said.strip().splitlines()) == 1, said
    return said
