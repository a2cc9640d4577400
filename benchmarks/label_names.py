"""What label names found in texts are worth: a method without and with them, and with all labels known by name.

    python -m benchmarks.label_names DATA --texts 10000 --method xr-linear --set tree.max_leaf=50

A tenth of the training texts (or the dev texts, if there are any) is held out to learn the weights, then the model is
trained again on all (`--once`: not). Test texts are predicted three times; differences are paired, with their errors.
`--record benchmarks/results/label-names.jsonl` keeps what was measured, for a table by `python -m benchmarks page`.
"""

from __future__ import annotations

import argparse
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.data import Dataset, read, split_by_ratio, splits
from treetop.data.labelfile import read_catalogue
from treetop.methods import Method
from treetop.methods.naming import renewed
from treetop.methods.registry import method_class
from treetop.methods.resolving import decide
from treetop.metrics.ranking import judge
from treetop.metrics.truth import as_truth
from treetop.runtime import Runtime

KS = (1, 3, 5)


def some(dataset: Dataset, count: int | None, seed: int) -> Dataset:
    """So many texts, at random, with the labels that they have."""
    if count is None or count >= len(dataset):
        return dataset
    rows = np.random.default_rng(seed).permutation(len(dataset))[:count]
    return dataset.take(np.sort(rows)).with_own_labels()


def measured(model: Method[Any], test: Dataset) -> dict[str, NDArray[np.float64]]:
    """P@k and R@10 of each text; and the share of true labels without training texts that are among the ten best."""
    started = time.process_time()
    found = model.predict(test, 10)
    cpu = time.process_time() - started
    judged = judge(found, as_truth(found, test), 10)
    figures = {f"P@{k}": judged.hits[:, :k].sum(axis=1) / k for k in KS}
    figures["R@10"] = judged.hits.sum(axis=1) / np.maximum(judged.true_counts, 1)
    frequency = np.append(model.frequency, np.zeros(judged.true.shape[1] + len(model.space), np.int64))
    for name, least, most in (("unseen", 0, 0), ("rare (1-5)", 1, 5)):
        inside = (frequency >= least) & (frequency <= most)
        pairs = max(int(inside[judged.true.indices].sum()), 1)
        hits = judged.hits & inside[judged.labels]
        figures[f"{name} found"] = hits.sum(axis=1) * len(hits) / pairs
    figures["ms per text"] = np.full(len(test), 1000 * cpu / len(test))
    return {name: np.asarray(values, np.float64) for name, values in figures.items()}


def main() -> None:
    """Train, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--texts", type=int)
    parser.add_argument("--test-texts", type=int)
    parser.add_argument("--method")
    parser.add_argument("--preset")
    parser.add_argument("--config", help="a recipe")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--encoder")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    name, config = decide(given.method, given.preset, given.config, tuple(given.set), given.encoder)
    model: Method[Any] = method_class(name)(config, runtime=Runtime(seed=given.seed, threads=given.threads))
    train = some(read(given.data, split="train"), given.texts, given.seed)
    if "dev" in splits(given.data):
        rest, held_out = train, read(given.data, split="dev")
    else:
        rest, held_out = split_by_ratio(train, 0.9, given.seed)
        rest = rest.with_own_labels()
    test = some(read(given.data, split="test"), given.test_texts, given.seed)
    catalogue = read_catalogue(given.data / "labels.txt")
    model.fit(rest)
    learned = {}
    for way, known in (("names", None), ("names, all labels known", catalogue)):
        started = time.process_time()
        model.learn_names(held_out, catalogue=known)
        learned[way] = model.naming
        print(json.dumps({"learned": way, "cpu_seconds": round(time.process_time() - started, 1)}
                         | model.training["label_names"]), flush=True)  # fmt: skip
    if rest is not train and not given.once:
        model.fit(train)
        learned = {way: naming and renewed(naming, model, held_out) for way, naming in learned.items()}
    base: dict[str, NDArray[np.float64]] = {}
    ways: dict[str, Any] = {}
    for way, naming in {"without": None, **learned}.items():
        model.adopt(naming, None)
        figures = measured(model, test)
        base = base or figures
        ways[way] = {"weights": [] if naming is None else [naming.weight, naming.unseen_weight]}
        for key, values in figures.items():
            difference = values - base[key]
            error = difference.std() / np.sqrt(len(values))
            ways[way][key] = [round(100 * float(number), 2) for number in (values.mean(), difference.mean(), error)]
        ways[way]["ms per text"] = round(float(figures["ms per text"].mean()), 4)
        print(json.dumps({"ranking": way} | ways[way]), flush=True)
    if given.record:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row: dict[str, Any] = {
            "run": now,
            "time": now,
            "kind": "names",
            "task": {"name": given.data.name},
            "error": None,
        }
        row |= {"entry": given.config or given.preset or name, "settings": given.set, "once": given.once}
        row |= {"texts": len(train), "test_texts": len(test), "ways": ways}
        with given.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
