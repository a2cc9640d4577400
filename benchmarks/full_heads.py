"""What scores labels: all of them at every step, groups of them, or a cascade; quality, CPU-seconds per step, memory.

    python -m benchmarks.full_heads DATA --encoder minilm --texts 2000 --set optim.epochs=3
    python -m benchmarks.full_heads DATA --encoder minilm --texts 640 --held-out 0 --labels 670091 --set optim.steps=8

Each way is trained in a process of its own, on some training texts; others of them are held out to test on, and
differences from the first way are paired. With `--labels` every label is split at random into as many as make that
number, most of which no text has: that tells what a step costs, and nothing about quality.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from treetop.data import Dataset, LabelSpace, read
from treetop.methods import Method, method_class
from treetop.methods.fine_tuned import FineTuned
from treetop.methods.resolving import decide
from treetop.metrics import Propensity, evaluate
from treetop.metrics.ranking import judge
from treetop.metrics.truth import as_truth
from treetop.runtime import Runtime
from treetop.sparse import canonical

WAYS = {
    "full": ("lightxml", "mode=flat", "optim.second_moment=row"),
    "full-adamw": ("lightxml", "mode=flat", "optim.second_moment=element"),
    "groups": ("lightxml", "mode=groups"),
    "cascade": ("cascadexml", "encoder.keep_frozen=false"),  # its levels see lower layers than the others
}
METRICS = ("p@1", "p@3", "p@5", "psp@1", "psp@3", "psp@5")


def split_labels(data: Dataset, labels: int, seed: int) -> Dataset:
    """Every tag goes to one of the labels that its own was split into, at random."""
    tags, rng = data.labels.tocoo(), np.random.default_rng(seed)
    copies = -(-labels // len(data.space))
    column = np.minimum(tags.col.astype(np.int64) * copies + rng.integers(0, copies, tags.nnz), labels - 1)
    matrix = canonical(csr_array((np.ones(tags.nnz), (tags.row, column)), shape=(len(data), labels)))
    return Dataset(data.corpus, matrix, LabelSpace([f"label {number}" for number in range(labels)]))


def measured(way: str, given: argparse.Namespace) -> dict[str, Any]:
    """One way, trained and tested in this process."""
    method, *settings = WAYS[way]
    own = [setting for setting in given.set if "." in setting or method == "lightxml"]
    _, config = decide(method, None, None, (*own, *settings), given.encoder)
    texts = read(given.data, split="train")
    rows = np.random.default_rng(given.seed).permutation(len(texts))[: given.texts + given.held_out]
    train, test = texts.take(rows[: given.texts]), texts.take(rows[given.texts :])
    if given.labels:
        train = split_labels(train, given.labels, given.seed)
    model: Method[Any] = method_class(method)(config, runtime=Runtime(seed=given.seed, threads=1))
    model.fit(train)
    assert isinstance(model, FineTuned)
    first, *_, last = (record for record in model.training_records() if "loss" in record)
    row: dict[str, Any] = {
        "way": way, "texts": len(train), "labels": len(train.space), "steps": last["step"],
        "ms_per_step": round(1000 * (last["cpu_seconds"] - first["cpu_seconds"]) / (last["step"] - first["step"])),
        "cpu_seconds": round(last["cpu_seconds"], 1), "loss": last["loss"],
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip
    if given.held_out:
        found, propensity = model.predict(test, 5), Propensity(train_texts=len(train))
        figures = evaluate(found, test, METRICS, frequency=model.frequency, propensity=propensity)
        row |= {name: round(100 * value, 2) for name, value in figures.items()}
        row["hits"] = judge(found, as_truth(found, test), 5).hits.astype(int).tolist()
    return row


def beside(hits: NDArray[Any], others: NDArray[Any]) -> list[str]:
    """P@1/3/5 less that of another way, with the standard error."""
    shown = []
    for k in (1, 3, 5):
        difference = 100 * (hits[:, :k].mean(1) - others[:, :k].mean(1))
        shown.append(f"{difference.mean():+.2f} ± {difference.std() / np.sqrt(len(hits)):.2f}")
    return shown


def main() -> None:
    """One way here, or each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--held-out", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="a setting; one without a dot is for LightXML alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--alone", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(measured(given.alone, given)), flush=True)
        return
    first = None
    for way in given.ways.split(","):
        command = [sys.executable, "-m", "benchmarks.full_heads", *sys.argv[1:], "--alone", way]
        row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])
        hits = np.array(row.pop("hits", []))
        first = hits if first is None else first
        row |= {"beside the first": beside(hits, first)} if len(hits) else {}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
