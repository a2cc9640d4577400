"""The tiny protocol that every peer speaks, so that all are measured by the same lines.

    python -m benchmarks.peers.NAME PHASE TASK REQUEST.json ANSWER.json

PHASE is one of

- `train`: read the task, train, save the model;
- `predict`: load the model in a fresh process, predict the test texts at once and one at a time;
- `vectorise`: texts to tf-idf (only peers that have a vectoriser).

Training and prediction are separate processes: the memory that training leaves behind must not be counted for serving.
The request is `{"settings": {...}, "threads": 2, "seed": 0, "k": 10, "model": FOLDER, "predictions": FILE, ...}`;
the answer `{"stages": {name: {"wall", "cpu", "peak_rss_mib"}}, "versions": {...}, ...}`.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["DensePeer", "Peer", "Stages", "Task", "from_csr", "from_lists", "from_scores", "main", "tuning"]

DENSE_CHUNK = 500  # texts at once for a peer that scores every label: the scores must fit into memory
WARM_UP = 20  # single queries before the clock starts


class Task:
    """A task folder: `X.trn.npz`, `Y.trn.npz`, `X.tst.npz` and, where texts exist, `trn.txt` and `tst.txt`.

    There may also be `Y.dev.npz` and `dev.txt`, and the labels' own texts in `labels.json`.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def _matrix(self, name: str) -> sp.csr_matrix:
        matrix = sp.csr_matrix(sp.load_npz(self.folder / name)).astype(np.float32)
        matrix.sort_indices()
        return matrix

    @cached_property
    def train_features(self) -> sp.csr_matrix:
        return self._matrix("X.trn.npz")

    @cached_property
    def train_labels(self) -> sp.csr_matrix:
        return self._matrix("Y.trn.npz")

    @cached_property
    def test_features(self) -> sp.csr_matrix:
        return self._matrix("X.tst.npz")

    @cached_property
    def dev_labels(self) -> sp.csr_matrix | None:
        """None without development texts."""
        return self._matrix("Y.dev.npz") if (self.folder / "dev.txt").exists() else None

    @cached_property
    def label_texts(self) -> list[str] | None:
        """What the labels are called, those that only test texts have at the end; None if nobody knows."""
        path = self.folder / "labels.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def texts(self, split: str) -> list[str]:
        """The texts of `trn`, `tst` or `dev`, one per line in the file."""
        with open(self.folder / f"{split}.txt", encoding="utf-8") as lines:
            return [line.rstrip("\n") for line in lines]


class Stages:
    """Wall seconds, CPU-seconds (user and system, children included) and peak memory of each named stage."""

    def __init__(self) -> None:
        self.measured: dict[str, dict[str, float]] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        gc.collect()
        _reset_peak()
        wall, cpu = time.perf_counter(), cpu_seconds()
        yield
        self.measured[name] = {
            "wall": time.perf_counter() - wall,
            "cpu": cpu_seconds() - cpu,
            "peak_rss_mib": _peak_rss_mib(),
        }


class Peer:
    """What a peer can do. Only what is inside `train`, `load`, `predict` and `predict_one` is timed as such."""

    packages: tuple[str, ...] = ()  # distributions whose versions go into the answer
    input = "features"  # or "texts", or "both": a pair of the two

    def __init__(self, settings: dict[str, Any], threads: int, seed: int) -> None:
        self.settings, self.threads, self.seed = settings, threads, seed

    def train(self, task: Task, stages: Stages) -> None:
        """Train; name at least the stage `train`, and `tree` where growing the tree can be told apart."""
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    def facts(self, folder: Path) -> dict[str, Any]:
        """More about the saved model that belongs into the row."""
        del folder
        return {}

    def load(self, folder: Path) -> None:
        raise NotImplementedError

    def queries(self, rows: Any) -> Any:
        """Test rows in the form the peer takes them (not timed)."""
        return rows

    def one(self, rows: Any, row: int) -> Any:
        """A single query in the form the peer takes it (not timed)."""
        return rows[row : row + 1]

    def predict(self, queries: Any, k: int) -> Any:
        raise NotImplementedError

    def predict_one(self, query: Any, k: int) -> Any:
        return self.predict(query, k)

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        """Whatever `predict` returned as label ids and scores, best first, -1 for none (not timed)."""
        raise NotImplementedError

    def vectorise(self, task: Task, stages: Stages) -> dict[str, Any]:
        """Fit tf-idf on the training texts and transform both splits, in stages `fit_transform` and `transform`."""
        raise NotImplementedError


class DensePeer(Peer):
    """A peer that takes float64 and returns a score for every label; it is asked for a few texts at a time."""

    def scores(self, queries: Any) -> Any:
        raise NotImplementedError

    def queries(self, rows: Any) -> Any:
        return rows.astype(np.float64)

    def one(self, rows: Any, row: int) -> Any:
        return self.queries(rows[row : row + 1])

    def predict(self, queries: Any, k: int) -> Any:
        starts = range(0, queries.shape[0], DENSE_CHUNK)
        parts = [from_scores(self.scores(queries[row : row + DENSE_CHUNK]), k) for row in starts]
        return [np.vstack(columns) for columns in zip(*parts, strict=True)]

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return predicted[0], predicted[1]


def main(peer: type[Peer]) -> None:
    """Carry out one phase for one peer; the harness calls it through the command line."""
    phase, task, request, answer = sys.argv[1:5]
    asked = json.loads(Path(request).read_text())
    limit_memory(asked.get("memory_gib"))
    instance = peer(asked["settings"], asked["threads"], asked["seed"])
    stages = Stages()
    extra = PHASES[phase](instance, Task(task), stages, asked)
    result = {"stages": stages.measured, "versions": versions(peer.packages), **extra}
    Path(answer).write_text(json.dumps(result))


def _train(peer: Peer, task: Task, stages: Stages, asked: dict[str, Any]) -> dict[str, Any]:
    peer.train(task, stages)
    folder = Path(asked["model"])
    with stages("save"):
        peer.save(folder)
    return {"model_bytes": folder_bytes(folder), **peer.facts(folder)}


def _predict(peer: Peer, task: Task, stages: Stages, asked: dict[str, Any]) -> dict[str, Any]:
    rows, k = _test_rows(task, peer.input), asked["k"]
    queries = peer.queries(rows)
    with stages("load"):
        peer.load(Path(asked["model"]))
    batches = _batches(peer, queries, k, stages, asked)
    labels, scores = peer.ranked(batches.pop("predicted"))
    np.savez(asked["predictions"], labels=labels.astype(np.int32), scores=scores.astype(np.float32))
    singles = [peer.one(rows, row) for row in range(min(asked["singles"], labels.shape[0]))]
    with stages("one"):
        one = _one_at_a_time(lambda query: peer.predict_one(query, k), singles, asked["seconds"])
    return {"texts": labels.shape[0], "batches": batches, "one": one}


def _test_rows(task: Task, kind: str) -> Any:
    if kind == "both":
        return task.test_features, task.texts("tst")
    return task.texts("tst") if kind == "texts" else task.test_features


def _batches(peer: Peer, queries: Any, k: int, stages: Stages, asked: dict[str, Any]) -> dict[str, Any]:
    """All test texts at once, repeated while it is quick: the first call pays for page faults, the median counts."""
    wall: list[float] = []
    cpu: list[float] = []
    predicted = None
    while not wall or (len(wall) < asked["batches"] and sum(wall) < asked["seconds"]):
        with stages("batch"):
            predicted = peer.predict(queries, k)
        wall.append(stages.measured["batch"]["wall"])
        cpu.append(stages.measured["batch"]["cpu"])
    stages.measured["batch"].update(wall=float(np.median(wall)), cpu=float(np.median(cpu)))
    return {"wall": wall, "cpu": cpu, "predicted": predicted}


def _one_at_a_time(predict: Callable[[Any], Any], queries: list[Any], seconds: float) -> dict[str, float]:
    for query in queries[:WARM_UP]:
        start = time.perf_counter()
        predict(query)
        if time.perf_counter() - start > seconds / WARM_UP:
            break  # so slow that warming up does not matter
    times: list[float] = []
    began = time.perf_counter()
    for query in queries:
        start = time.perf_counter()
        predict(query)
        times.append(time.perf_counter() - start)
        if start - began > seconds:
            break
    p50, p99 = np.percentile(times, [50, 99])
    return {"queries": len(times), "mean_ms": 1e3 * float(np.mean(times)), "p50_ms": 1e3 * p50, "p99_ms": 1e3 * p99}


def _vectorise(peer: Peer, task: Task, stages: Stages, _asked: dict[str, Any]) -> dict[str, Any]:
    return peer.vectorise(task, stages)


PHASES = {"train": _train, "predict": _predict, "vectorise": _vectorise}


def cpu_seconds() -> float:
    """CPU-seconds of this process and of its finished children so far."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _reset_peak() -> None:
    with suppress(OSError):  # then the peak counts from the start of the process
        Path("/proc/self/clear_refs").write_text("5")


def _peak_rss_mib() -> float:
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 2**20 if sys.platform == "darwin" else peak / 1024


def limit_memory(gib: float | None) -> None:
    """Let a peer that outgrows the machine fail alone, with a MemoryError, instead of taking others with it."""
    if gib:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (int(gib * 2**30), hard))


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    return {"python": sys.version.split()[0], **{package: _version(package) for package in packages}}


def _version(package: str) -> str:
    imported = getattr(sys.modules.get(package), "__version__", None)
    if imported is not None:  # also of sources that are run where they lie
        return str(imported)
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def from_csr(scores: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """The entries of each row, best first; equal scores in the order in which the peer stored them."""
    counts = np.diff(scores.indptr)
    rows = np.repeat(np.arange(scores.shape[0]), counts)
    order = np.lexsort((-scores.data, rows))
    rank = np.arange(len(order)) - np.repeat(scores.indptr[:-1], counts)
    labels, values = _empty(scores.shape[0], int(counts.max(initial=1)))
    labels[rows, rank] = scores.indices[order]
    values[rows, rank] = scores.data[order]
    return labels, values


def from_lists(predicted: list[list[tuple[int, float]]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of (label, score) pairs, best first."""
    labels, values = _empty(len(predicted), max(map(len, predicted), default=1))
    for row, pairs in enumerate(predicted):
        for rank, (label, score) in enumerate(pairs):
            labels[row, rank], values[row, rank] = label, score
    return labels, values


def from_scores(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best columns of a dense matrix of scores."""
    k = min(k, scores.shape[1])
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
    labels = np.take_along_axis(best, order, 1)
    return labels, np.take_along_axis(scores, labels, 1)


def tuning(texts: int, wall: float, cpu: float) -> dict[str, dict[str, float]]:
    """What the fine-tuning of an encoder cost: texts seen, repetitions counted, wall and CPU-seconds."""
    parts = {"texts": texts, "wall": wall, "cpu": cpu, "cpu_ms_per_text": 1e3 * cpu / max(1, texts)}
    return {"tuning": parts} if texts else {}


def _empty(rows: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((rows, k), -1, np.int32), np.zeros((rows, k), np.float32)
