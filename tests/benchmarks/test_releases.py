from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks.releases import STEPS, compare_releases, smallest


def test_the_smallest_time_of_each_step_counts() -> None:
    assert smallest([[3.0, 1.0], [2.0, 5.0]]) == [2.0, 1.0]


def test_a_release_beside_itself_has_the_same_quality_and_a_row_per_step(tmp_path: Path) -> None:
    rows = [{"text": f"word{n % 7} and word{n % 3}", "labels": [f"label{n % 7}", f"other{n % 3}"]} for n in range(60)]
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    lines = compare_releases(Path(sys.executable), tmp_path, repeats=1, threads=1, singles=5).splitlines()
    assert [line[:20].strip() for line in lines[1 : 1 + len(STEPS)]] == list(STEPS)
    assert lines[-2] == lines[-1]


def test_a_python_without_treetop_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="could not be measured"):
        compare_releases(Path(sys.executable), tmp_path / "..", repeats=1, threads=1)
