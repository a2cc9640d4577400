"""Counting in several processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from treetop.apps.serve.counts import Counts, make_table

CODE = """
import sys
from pathlib import Path
from treetop.apps.serve.counts import Counts
counts = Counts(Path(sys.argv[1]), ["a", "b"], int(sys.argv[2]))
for _ in range(1000):
    counts.add("a")
counts.set("b", 7)
"""


def test_rows_add_up_and_outlive_their_processes() -> None:
    table = make_table(3, 2)
    try:
        done = [subprocess.Popen([sys.executable, "-c", CODE, str(table), str(n)]) for n in (0, 1, 1)]
        assert [process.wait(60) for process in done[:2]] == [0, 0]
        assert done[2].wait(60) == 0
        counts = Counts(table, ["a", "b"], 2)
        assert counts.each("b") == [7, 7, 0]
        assert counts.each("a")[0] == 1000
        counts.add("a", 0.5)
        assert counts.total("a") == sum(counts.each("a"))
    finally:
        Path(table).unlink()
