"""treetop beside an earlier release of itself: the same texts, the same steps, in turn, in one run.

    python -m benchmarks releases --before OLD_ENVIRONMENT/bin/python --data DATA

Only names that every release has are used. Each round is a process of its own per release, so that neither warms the
other's caches; what is shown is the smallest CPU time of a step, which a busy machine disturbs least, and the ratio.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environments import variables

__all__ = ["STEPS", "compare_releases", "smallest"]

STEPS = ("read", "train", "save and load", "predict all", "predict one by one")
"""What is timed, in this order."""
_MEASURE = """
import json, sys, tempfile, time
import treetop
data, threads, singles = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
runtime = treetop.Runtime(threads=threads)
marks = [time.process_time()]
mark = lambda: marks.append(time.process_time())
train = treetop.read(data, split="train")
mark()
model = treetop.XRLinear(runtime=runtime).fit(train)
mark()
with tempfile.TemporaryDirectory() as folder:
    model.save(folder + "/model")
    model = treetop.load(folder + "/model", runtime=runtime)
    model.predict(["warm"], k=5)
    mark()
    test = treetop.read(data, split="test", space=model.space)
    begin = time.process_time()
    found = model.predict(test, k=5)
    batch = time.process_time() - begin
    texts = test.corpus.texts[:singles]
    begin = time.process_time()
    for text in texts:
        model.predict([text], k=5)
    single = time.process_time() - begin
seconds = [after - before for before, after in zip(marks, marks[1:])] + [batch, single]
quality = treetop.evaluate(found, test.labels, ["p@1", "p@3", "p@5"])
print(json.dumps({"seconds": seconds, "quality": quality, "version": treetop.__version__}))
"""


def compare_releases(before: Path, data: Path, *, repeats: int, threads: int, singles: int = 2000) -> str:
    """A table of every step's CPU seconds in both releases, and the older one's divided by this one's."""
    pythons = (str(before), sys.executable)
    rounds = [[_measure(python, data, threads, singles) for python in pythons] for _ in range(repeats)]
    old, new = (smallest([both[side]["seconds"] for both in rounds]) for side in (0, 1))
    lines = [f"{data.name}: CPU-seconds before, now, before / now"]
    lines += [
        f"{step:<20} {was:9.3f} {now:9.3f} {was / now:7.2f}x" for step, was, now in zip(STEPS, old, new, strict=True)
    ]
    return "\n".join([*lines, *(f"{one['version']}: {one['quality']}" for one in rounds[0])])


def smallest(rounds: Sequence[Sequence[float]]) -> list[float]:
    """The smallest time of each step over all rounds."""
    return [min(times) for times in zip(*rounds, strict=True)]


def _measure(python: str, data: Path, threads: int, singles: int) -> dict[str, Any]:
    command = [python, "-c", _MEASURE, str(data.resolve()), str(threads), str(singles)]
    # from another folder, or the older release would import this one
    finished = subprocess.run(command, capture_output=True, text=True, env=variables(threads, own=False), cwd=data)
    if finished.returncode:
        raise SystemExit(f"{python} could not be measured: {finished.stderr.strip().splitlines()[-1]}")
    measured: dict[str, Any] = json.loads(finished.stdout)
    return measured
