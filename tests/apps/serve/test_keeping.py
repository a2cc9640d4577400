"""Feedback on disk: whole lines, from several processes, whatever happened before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from treetop.apps.serve.keeping import Keeper


def kept(folder: Path) -> list[int]:
    files = sorted((folder / "m").glob("*.jsonl"))
    return [json.loads(line)["n"] for file in files for line in file.read_text().splitlines()]


def line(number: int) -> bytes:
    return b'{"n": %d}\n' % number


def test_files_follow_one_another(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, largest=50)
    for number in range(40):
        keeper.keep("m", [line(number)])
    assert kept(tmp_path) == list(range(40))
    assert sorted(os.listdir(tmp_path / "m"))[:2] == ["train-00001.jsonl", "train-00002.jsonl"]
    assert all(file.stat().st_size < 50 + 12 for file in (tmp_path / "m").iterdir())


def test_files_of_others_in_the_folder(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.keep("m", [line(1)])
    for name in ("train-old.jsonl", "train-.jsonl", "train-1e5.jsonl"):
        (tmp_path / "m" / name).write_text("x" * 100)
    keeper.keep("m", [line(2)])
    assert (tmp_path / "m" / "train-00001.jsonl").read_bytes() == line(1) + line(2)


def test_what_was_cut_off_is_cut_away(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.keep("m", [line(1)])
    with (tmp_path / "m" / "train-00001.jsonl").open("ab") as file:
        file.write(b'{"n": 2, "text": "' + b"x" * 200_000)
    keeper.keep("m", [line(3), line(4)])
    assert kept(tmp_path) == [1, 3, 4]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Keeper(tmp_path)
    keeper.keep("m", [line(1)])
    write = os.write

    def full(file: int, content: bytes) -> int:
        if len(content) > 4:
            return write(file, content[:4])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            keeper.keep("m", [line(2)])
    keeper.keep("m", [line(3)])
    assert kept(tmp_path) == [1, 3]


def test_several_processes_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from treetop.apps.serve.keeping import Keeper\n"
        "keeper, start = Keeper(Path(sys.argv[1]), largest=2000), int(sys.argv[2])\n"
        "for n in range(start, start + 200): keeper.keep('m', [b'{\"n\": %d}\\n' % n])\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(1000 * n)]) for n in range(4)]
    assert [writer.wait(120) for writer in writers] == [0] * 4
    assert sorted(kept(tmp_path)) == sorted(1000 * n + i for n in range(4) for i in range(200))
