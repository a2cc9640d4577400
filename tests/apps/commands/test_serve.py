"""`treetop serve` as a program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from shell import run


def test_from_the_command_to_a_suggestion(model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "treetop", "serve", str(model), "--port", "0", "--threads", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as program:
        assert program.stderr is not None
        said = program.stderr.readline()
        assert said.startswith("treetop serves model at http://127.0.0.1:")
        url = said.split(" at ")[1].split()[0]
        request = urllib.request.Request(
            f"{url}/v1/suggest", json.dumps({"texts": ["topic1"]}).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert len(json.load(answer)["results"]) == 1
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) in (0, -signal.SIGTERM)
        assert program.stderr.read() == ""
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere is no model folder"),
        (("MODEL", "--port", "99999"), "port is 99999"),
        (("MODEL", "--host", "192.0.2.1"), "cannot listen at 192.0.2.1"),
        (("MODEL", "MODEL"), "two models are called 'model'"),
    ],
)
def test_mistakes_are_one_clear_line(arguments: tuple[str, ...], said: str, model: Path) -> None:
    done = run("serve", *(argument.replace("MODEL", str(model)) for argument in arguments))
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert said in done.stderr
