"""`docs/benchmarks.md` and its plots, from the committed rows alone: no number is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import PAGES, fill
from benchmarks.plots import draw
from benchmarks.results import Row, newest, read_rows
from benchmarks.sections import task_section
from benchmarks.series import generator_section, growth_section, heads_section, scale_section, tfidf_section

__all__ = ["KINDS", "write_figures", "write_page"]

KINDS = ("compare", "tfidf", "growth", "scale", "heads", "statistics")

HEAD = """# Benchmarks

treetop beside what people would use instead: same data, same matrices, same machine, same run.
This page is made from `benchmarks/results/*.jsonl` by `python -m benchmarks page`; no number on it is written by hand.

```sh
make bench                                                   # minutes: generated data, four peers
python -m benchmarks run --data DIR [--data DIR …]           # hours: every peer on your data, three times
python -m benchmarks run --data DIR --features RECIPE.toml   # the same with features that a search chose
python -m benchmarks run --generated zipf-200k               # generated data: 200,000 texts and labels
python -m benchmarks growth && python -m benchmarks scale    # treetop alone, to a million labels and beyond
python -m benchmarks heads --encoder DIR                     # transformer heads, to three million labels
python -m benchmarks tfidf --data DIR                        # texts to tf-idf
python -m benchmarks page                                    # this page
```

How it is measured:

- Every peer has a virtual environment of its own with pinned versions, and is driven by one small file in
  `benchmarks/peers`. Peers take turns and the whole round is repeated, so a busy moment of the machine hits all alike.
  Costs are medians. Every round has a seed of its own, and quality is the mean: trees differ by luck.
- All get the same tf-idf matrix (rows *from texts* make their own), the same number of threads, and ten labels to
  predict. Training and prediction are separate processes; prediction is timed on the saved and loaded model.
- CPU-seconds are user and system time of all threads: less noisy than wall time. Peak memory includes the data.
- *Train* is label representation, tree and classifiers. Rows are in each peer's recommended settings; PECOS's defaults
  and treetop's XR-Linear also have equal settings (one tree, leaves of 100, 16 children, the same solver, beam 10).
- *treetop, settings chosen* is what `treetop train` does without a method: it is given the texts, holds some out (or
  takes the dev texts), and searches for five minutes of CPU time at most. Its search is a cost of its own.
- Labels that occur only in the test texts count as true and nobody can find them. Propensities: A 0.55, B 1.5.
  *Found@5*: of the true labels with more than 100 (head), 6–100 (torso), up to 5 (tail) training texts, the share among
  the first five. ± is the paired standard error over test texts; differences below two of these are noise.
"""


def write_figures(results: Path, root: Path, into: Path) -> list[Path]:
    """The pages of `root` that people write, with their marked figures made anew, under the same names in `into`."""
    rows, written = read_rows(results), []
    kinds = {kind: newest(rows, kind) for kind in (*KINDS, "noted", "names")}
    for name in PAGES:
        page = into / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(fill((root / name).read_text(encoding="utf-8"), kinds), encoding="utf-8")
        written.append(page)
    return written


def write_page(results: Path, docs: Path) -> Path:
    """Make the page and the plots it shows."""
    rows = [row for row in read_rows(results) if row["kind"] in KINDS]
    kinds = {kind: newest(rows, kind) for kind in KINDS}
    plots = draw(kinds, docs / "benchmarks")
    parts = [HEAD, _machines(rows), _pictures(plots)]
    parts += [task_section(name, found) for name, found in kinds["compare"].items()]
    parts += [tfidf_section(kinds["tfidf"]), growth_section(kinds["growth"]), scale_section(kinds["scale"])]
    parts.append(heads_section(kinds["heads"]))
    parts.append(generator_section(kinds["statistics"], kinds["compare"]))
    page = docs / "benchmarks.md"
    page.write_text("\n".join(part.rstrip() + "\n" for part in parts if part), encoding="utf-8")
    return page


def _machines(rows: Sequence[Row]) -> str:
    """The machines, versions and commits behind the timings."""
    rows = [row for row in rows if row["kind"] != "statistics"]
    if not rows:
        return "There are no timings yet."
    facts = [row["machine"] for row in rows]
    seen = dict.fromkeys(
        f"{fact['cpu']}, {fact['cores']} cores, {fact['memory_gib']} GiB, {fact['system']}" for fact in facts
    )
    versions = {name: value for row in rows for name, value in row.get("versions", {}).items() if name != "python"}
    commits = dict.fromkeys(row["commit"] for row in rows)
    lines = [
        f"Measured on {'; '.join(seen)}, from {rows[0]['time'][:10]} to {rows[-1]['time'][:10]},",
        f"commits {', '.join(commits)}; system load before a run: at most {max(fact['load'] for fact in facts)}.",
        "Versions: " + ", ".join(f"{name} {value}" for name, value in sorted(versions.items())) + ".",
    ]
    return "\n".join(lines)


def _pictures(plots: dict[str, str]) -> str:
    return "\n\n".join(f"![{title}](benchmarks/{name}.svg)" for name, title in plots.items())
