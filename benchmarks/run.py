"""Peers on tasks, in turn and repeated, one JSON line per run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.environments import InstallError, environment_python, variables
from benchmarks.generate import Shape, generate
from benchmarks.machine import ROOT, commit, machine
from benchmarks.plan import REFERENCE, Entry
from benchmarks.scores import score
from benchmarks.statistics import statistics
from benchmarks.tasks import CARD

__all__ = ["Options", "compare", "record_statistics", "run_entry", "vectorise"]

K = 10  # labels predicted per text


class PeerError(Exception):
    """A peer that could not do its part; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a run is done, the same for all entries."""

    work: Path
    """Tasks, models and predictions; nothing here is kept in the repository."""
    environments: Path
    results: Path
    threads: int = 2
    seed: int = 0
    singles: int = 2000
    """Texts that are predicted one at a time."""
    batches: int = 5
    seconds: float = 20.0
    """Repeating batches, or single queries, stops after this time."""
    time_limit: float = 3600.0
    memory_gib: float | None = 20.0
    encoder: Path | None = None
    """A folder with the pretrained encoder that transformer methods fine-tune."""
    kind: str = "compare"
    started: str = field(default_factory=lambda: _now())
    """Names the run: the page shows the newest run of each entry."""


def compare(task: Path, entries: Sequence[Entry], repeats: int, options: Options) -> list[dict[str, Any]]:
    """Every entry `repeats` times, interleaved, so that a busy moment of the machine hits all alike."""
    rows = []
    for repeat in range(repeats):
        for entry in (entry for entry in entries if repeat == 0 or not entry.once):
            row = run_entry(task, entry, repeat, options)
            rows.append(row)
            _append(options.results / f"{row['file']}.jsonl", row)
            print(_summary(row), file=sys.stderr, flush=True)
    for model in (options.work / "runs" / rows[0]["task"]["name"]).glob("*.model"):
        shutil.rmtree(model)  # some peers' models take gigabytes
    return rows


def run_entry(task: Path, entry: Entry, repeat: int, options: Options) -> dict[str, Any]:
    """One row: train, predict, score. Whatever fails is said in the row's `error`.

    Every repeat has a seed of its own: trees differ by luck, and one seed's luck is not a difference between peers.
    """
    options = replace(options, seed=options.seed + repeat)
    row = _header(task, entry, repeat, options)
    folder = options.work / "runs" / row["task"]["name"]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _check_possible(entry, row["task"], options)
        python = environment_python(entry.peer, options.environments)
        request = _request(entry, folder, options)
        trained = _train(python, task, entry, request, folder, options)
        predicted = _phase("predict", python, task, entry, request, folder, options)
        stages = {**trained["stages"], **predicted["stages"]}
        row |= {**trained, **predicted, "stages": stages}
        row |= score(task, Path(request["predictions"]), folder / f"{REFERENCE}.npz")
    except (InstallError, PeerError) as error:
        row["error"] = str(error)
    return row


def vectorise(task: Path, entries: Sequence[Entry], repeats: int, options: Options) -> None:
    """Texts to tf-idf, by each peer that has a vectoriser."""
    folder = options.work / "runs" / task.name
    folder.mkdir(parents=True, exist_ok=True)
    for repeat in range(repeats):
        for entry in entries:
            row = _header(task, entry, repeat, options)
            try:
                python = environment_python(entry.peer, options.environments)
                row |= _phase("vectorise", python, task, entry, _request(entry, folder, options), folder, options)
            except (InstallError, PeerError) as error:
                row["error"] = str(error)
            _append(options.results / f"{row['file']}.jsonl", row)
            print(_summary(row), file=sys.stderr, flush=True)


def record_statistics(name: str, shape: Shape, options: Options) -> None:
    """A row that says what generated data of a shape looks like."""
    made = generate(shape, options.seed)
    facts = statistics(made.train_features, made.train_labels)
    row = {
        "run": options.started,
        "time": _now(),
        "kind": options.kind,
        "task": {"name": name, "source": "generated", "shape": asdict(shape), "statistics": facts},
        "entry": "generator",
        "seed": options.seed,
        "machine": machine(),
        "commit": commit(),
        "error": None,
    }
    _append(options.results / f"{options.kind}.jsonl", row)
    print(name, _rounded(facts), file=sys.stderr, flush=True)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _header(task: Path, entry: Entry, repeat: int, options: Options) -> dict[str, Any]:
    about = json.loads((task / CARD).read_text())
    return {
        "run": options.started,
        "time": _now(),
        "kind": options.kind,
        "file": about["name"] if options.kind == "compare" else options.kind,
        "task": about,
        "entry": entry.name,
        "title": entry.title,
        "peer": entry.peer,
        "equal": entry.equal,
        "variant": entry.variant,
        "settings": entry.settings,
        "encoder": options.encoder.name if entry.needs_encoder and options.encoder else None,
        "threads": entry.threads or options.threads,
        "seed": options.seed,
        "repeat": repeat,
        "machine": machine(),
        "commit": commit(),
        "error": None,
    }


def _check_possible(entry: Entry, task: dict[str, Any], options: Options) -> None:
    if entry.needs_encoder and options.encoder is None:
        raise PeerError("not tried: needs a pretrained encoder (--encoder)")
    if entry.needs_texts and not task["texts"]:
        raise PeerError("needs texts, and generated tasks have none")
    work = task["statistics"]["texts"] * task["statistics"]["labels"]
    if work > entry.most_work:
        raise PeerError(f"not tried: its time grows with texts × labels, {work:.0e} here")


def _request(entry: Entry, folder: Path, options: Options) -> dict[str, Any]:
    own = {"encoder": str(options.encoder)} if entry.needs_encoder else {}
    if entry.settings.get("method") == "auto":  # where a search that is cut off leaves what it has done
        own["journal"] = str(folder / f"{entry.name}-{options.seed}.trials")
    return {
        "settings": {**entry.settings, **own},
        "threads": entry.threads or options.threads,
        "seed": options.seed,
        "k": K,
        "singles": options.singles,
        "batches": options.batches,
        "seconds": options.seconds,
        "memory_gib": options.memory_gib,
        "model": str(folder / f"{entry.model_of or entry.name}.model"),
        "predictions": str(folder / f"{entry.name}.npz"),
    }


def _train(
    python: str, task: Path, entry: Entry, request: dict[str, Any], folder: Path, options: Options
) -> dict[str, Any]:
    """The answer of the training phase; kept beside the model, for entries that predict with the same one."""
    if entry.model_of is None:
        shutil.rmtree(request["model"], ignore_errors=True)
        return _phase("train", python, task, entry, request, folder, options)
    answer = folder / f"{entry.model_of}.train.json"
    if not answer.exists():
        raise PeerError(f"needs the model of {entry.model_of}, which was not trained")
    trained: dict[str, Any] = json.loads(answer.read_text())
    return trained


def _phase(
    phase: str, python: str, task: Path, entry: Entry, request: dict[str, Any], folder: Path, options: Options
) -> dict[str, Any]:
    asked, answer = (folder / f"{entry.name}.{phase}.{end}" for end in ("request.json", "json"))
    asked.write_text(json.dumps(request))
    answer.unlink(missing_ok=True)
    module = f"benchmarks.peers.{entry.peer}"
    command = [python, "-m", module, phase, *(str(path.resolve()) for path in (task, asked, answer))]
    environment = variables(request["threads"], own=entry.peer == "treetop")
    log = folder / f"{entry.name}.{phase}.log"
    code = _execute(command, environment, log, options.time_limit)
    if code is None:
        raise PeerError(f"{phase} was stopped after {options.time_limit:.0f} s")
    if code or not answer.exists():
        raise PeerError(f"{phase} failed: {_last_line(log)}" if code > 0 else f"{phase} died of signal {-code}")
    result: dict[str, Any] = json.loads(answer.read_text())
    return result


def _execute(command: list[str], environment: dict[str, str], log: Path, limit: float) -> int | None:
    """The exit code, or None if the time was up; everything the command started ends with it."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            return process.wait(limit)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "no message"


def _append(path: Path, row: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(_rounded(row)) + "\n")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list) else value


def _summary(row: dict[str, Any]) -> str:
    what = f"{row['task']['name']}  {row['entry']:<28}"
    if row["error"]:
        return f"{what} {row['error']}"
    cpu = "  ".join(f"{name} {stage['cpu']:.2f}" for name, stage in row["stages"].items())
    found = f"  p@1 {100 * row['metrics']['p@1']:.2f}" if "metrics" in row else ""
    return f"{what} CPU-seconds: {cpu}{found}"
