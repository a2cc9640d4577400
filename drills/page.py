"""`docs/reliability.md`, from the recorded lines alone: no number is written by hand."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from drills.drill import ROOT, Outcome
from drills.plan import DRILLS

__all__ = ["PROMISES", "record", "write_page"]

HEAD = """# Reliability

Kill it anywhere, lose nothing. Loading runs nothing. Damage is noticed, and has a name.

How that is kept true: drills that kill, starve and lie to treetop, round after round, and count what goes wrong. A
failure is mended and kept as a test once it is understood; the last column but one counts what was run since. This page
is made from `drills/results/*.jsonl` by `python -m drills page`; no number on it is written by hand.

```sh
make drill                                        # minutes: some rounds of every drill
python -m drills run --seconds 3600 --record      # hours; the lines are kept, and this page counts them
```
"""
PROMISES: tuple[tuple[str, str], ...] = (
    ("no file of a model or an encoder runs code, nobody is asked, pickled weights are refused",
     "text/test_pretrained.py"),
    ("every array from outside is looked at once before the kernels see it",
     "data/test_limits.py kernels/test_packed_checks.py kernels/test_rows.py"),
    ("memory follows what a file holds, whatever its header says; lines, cells, digits, depth and archives have "
     "limits",
     "data/test_limits.py data/test_arrow.py data/test_parquet.py"),
    ("what a reader stumbles over is an error with file and line, in one short line",
     "data/test_lines.py data/test_tables.py apps/test_cli.py apps/test_writers.py"),
    ("weights are finite, ids that JSON cannot hold are words",
     "data/test_limits.py apps/test_writers.py"),
    ("a damaged model, its probabilities, names, kept texts and card are a StoreError that names the file",
     "test_store.py methods/test_card.py calibration/ naming/ text/test_kept.py"),
    ("a flipped byte, a cut or an exchanged file is noticed; tensors of an encoder are all there",
     "test_manifest.py text/test_encoder.py"),
    ("`--out` is tried before a training: rights, parents, links, lengths",
     "test_store.py apps/test_cli.py"),
    ("numbers on the command line have limits; a full standard output is one line",
     "apps/test_cli.py"),
    ("a fork after torch computes",
     "text/test_threads.py"),
    ("a mapped file that was cut is noticed when it is opened",
     "test_manifest.py"),
    ("what was killed goes on to the same bytes; a damaged checkpoint or journal says so",
     "neural/test_training.py neural/test_checkpoint.py apps/tuning/test_journal.py"),
    ("whatever answers instead of a service is a ServiceError", "test_client.py"),
)  # fmt: skip
"""What holds, and the tests of what once did not."""
_LONGEST = 600
TAIL = """
What is not promised:

- A model file that is cut *in place* while it is mapped ends the process with a bus error
  ([model folders](storage.md)).
- A manifest tells damage, not forgery. Who can write into a model folder can also write its manifest.
- A tokenizer from a stranger can be slow on purpose, and a network can be large. Nothing in it runs, but it takes the
  time and the memory that its files ask for.
"""


def record(results: Path, outcome: Outcome, *, date: str, version: str) -> None:
    """Keep an outcome as a line."""
    results.mkdir(parents=True, exist_ok=True)
    failures = [failure.replace(str(ROOT), "…").replace(gettempdir(), "…")[:_LONGEST] for failure in outcome.failures]
    row = {**asdict(outcome), "failures": failures, "date": date, "version": version}
    with (results / f"{date[:7]}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_page(results: Path, docs: Path) -> Path:
    """Make the page."""
    page = docs / "reliability.md"
    page.write_text(f"{HEAD}\n{_table(_rows(results))}\n{_promises()}{TAIL}", encoding="utf-8")
    return page


def _promises() -> str:
    lines = ["What once went wrong is kept as a test:", "", "| what holds | tests |", "|---|---|"]
    lines += [f"| {what} | {', '.join(f'`{test}`' for test in tests.split())} |" for what, tests in PROMISES]
    return "\n".join(lines) + "\n"


def _rows(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(results.glob("*.jsonl")) for line in path.open(encoding="utf-8")]


def _since(rows: list[dict[str, Any]]) -> int:
    """Rounds of the runs after the last one in which something went wrong."""
    last = max((number for number, row in enumerate(rows, 1) if row["failures"]), default=0)
    return sum(row["rounds"] for row in rows[last:])


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| drill | what is tried | what must hold | rounds | failures | rounds since | last |"]
    lines.append("|---|---|---|---:|---:|---:|---|")
    for name, drill in DRILLS.items():
        own = [row for row in rows if row["drill"] == name]
        rounds, failures = sum(row["rounds"] for row in own), sum(len(row["failures"]) for row in own)
        last = max((row["date"] for row in own), default="not yet")
        counts = f"{rounds:,} | {failures:,} | {_since(own):,}"
        lines.append(f"| {name} | {drill.tries} | {drill.holds} | {counts} | {last} |")
    return "\n".join(lines) + "\n"
