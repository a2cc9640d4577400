"""Where treetop's own time goes, stage by stage and level by level: the next optimisation is chosen by evidence.

The library knows nothing of this: for the length of a run, the functions worth watching are wrapped in a clock.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generate import generate
from benchmarks.peers.protocol import Stages, cpu_seconds
from benchmarks.plan import shape_of
from treetop import kernels
from treetop.data import Corpus, Dataset, LabelSpace, read
from treetop.labels import LabelTree, grow_tree, pifa
from treetop.linear import LinearLevel
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text import Tfidf

__all__ = ["profile"]

SINGLES = 300


def profile(source: str, *, limit: int | None = None, threads: int = 2, seed: int = 0) -> str:
    """Train, save, load and predict once; print and return a table of stages."""
    runtime = Runtime(seed=seed, threads=threads)
    stages, clock = Stages(), Clock()
    train, test = _read(source, limit, stages) if Path(source).exists() else _generate(source, stages)
    config = XRLinearConfig()
    train, test = _features(train, test, config, stages)
    tree = _tree(train, config, runtime, stages)
    with stages("train"), watching(clock):
        model = XRLinear(config, runtime=runtime, tree=tree).fit(train)
    with tempfile.TemporaryDirectory() as folder:
        with stages("save"):
            model.save(Path(folder) / "model")
        with stages("load"):
            model = XRLinear.load(Path(folder) / "model", runtime=runtime)
        for name in ("predict, first", "predict, again"):
            with stages(name):
                model.predict(test)
        singles = [test.corpus.take([row]) for row in range(min(SINGLES, len(test)))]
        with stages(f"predict, {len(singles)} one by one"):
            for one in singles:
                model.predict(one)
    table = "\n".join([_title(source, train, test, tree, threads), "", *_table(stages, clock, tree)])
    print(table)
    return table


@dataclass
class Spent:
    wall: float = 0.0
    cpu: float = 0.0
    calls: int = 0


class Clock:
    """Seconds spent in watched functions, by name."""

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}

    def watch(self, function: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            wall, cpu = time.perf_counter(), cpu_seconds()
            result = function(*arguments, **options)
            spent = self.spent.setdefault(name(*arguments, **options), Spent())
            spent.wall += time.perf_counter() - wall
            spent.cpu += cpu_seconds() - cpu
            spent.calls += 1
            return result

        return timed


@contextmanager
def watching(clock: Clock) -> Iterator[None]:
    """Time each level's training and, over all levels, the kernels inside it."""
    fit = LinearLevel.fit
    with ExitStack() as undo:
        undo.callback(setattr, LinearLevel, "fit", fit)
        LinearLevel.fit = clock.watch(fit, lambda *_, title, **__: title.removeprefix("train "))  # type: ignore[method-assign]
        for name in ("train_nodes", "pack"):
            undo.callback(setattr, kernels, name, getattr(kernels, name))
            setattr(kernels, name, clock.watch(getattr(kernels, name), lambda *_, label=name, **__: label))
        yield


def _read(source: str, limit: int | None, stages: Stages) -> tuple[Dataset, Dataset]:
    with stages("read"):
        train = read(source, split="train")
        test = read(source, split="test", space=train.space)
    if limit:
        rng = np.random.default_rng(0)
        train, test = (part.take(rng.permutation(len(part))[:limit]) for part in (train, test))
    return train, test


def _generate(source: str, stages: Stages) -> tuple[Dataset, Dataset]:
    with stages("generate"):
        made = generate(shape_of(source))
    space = LabelSpace([str(label) for label in range(made.train_labels.shape[1])])
    pairs = ((made.train_features, made.train_labels), (made.test_features, made.test_labels))
    train, test = (Dataset(Corpus([], canonical(x)), canonical(y), space) for x, y in pairs)
    return train, test


def _features(train: Dataset, test: Dataset, config: XRLinearConfig, stages: Stages) -> tuple[Dataset, Dataset]:
    """Tf-idf as a stage of its own; data that brings features keeps them."""
    if not train.corpus.texts:
        return train, test
    tfidf = Tfidf(config.tfidf)
    with stages("tf-idf, fit and transform"):
        x = tfidf.fit_transform(train.corpus.texts)
    with stages("tf-idf, transform test"):
        z = tfidf.transform(test.corpus.texts)
    return Dataset(Corpus([], x), train.labels, train.space), Dataset(Corpus([], z), test.labels, test.space)


def _tree(train: Dataset, config: XRLinearConfig, runtime: Runtime, stages: Stages) -> LabelTree:
    assert train.corpus.features is not None
    with stages("pifa"):
        representation = pifa(train.corpus.features, train.labels, threads=runtime.cores)
    with stages("tree"):
        return grow_tree(representation, config.tree, seed=runtime.seed, threads=runtime.cores)


def _title(source: str, train: Dataset, test: Dataset, tree: LabelTree, threads: int) -> str:
    sizes = f"{len(train):,} + {len(test):,} texts, {len(train.space):,} labels"
    levels = " > ".join(f"{width:,}" for width in tree.widths)
    return f"{Path(source).name}: {sizes}, levels {levels}, {threads} threads"


def _table(stages: Stages, clock: Clock, tree: LabelTree) -> list[str]:
    total = sum(stage["cpu"] for stage in stages.measured.values())
    lines = [f"{'stage':<34}{'wall s':>9}{'CPU s':>9}{'share':>8}{'peak MiB':>10}", "-" * 70]
    for name, stage in stages.measured.items():
        share = 100 * stage["cpu"] / total
        lines.append(f"{name:<34}{stage['wall']:>9.3f}{stage['cpu']:>9.3f}{share:>7.1f}%{stage['peak_rss_mib']:>10.0f}")
        if name == "train":
            lines += [_inner(label, spent, total, tree) for label, spent in sorted(clock.spent.items())]
    return [*lines, "-" * 70, f"{'all':<43}{total:>9.3f}"]


def _inner(label: str, spent: Spent, total: float, tree: LabelTree) -> str:
    nodes = f" ({tree.widths[int(label.split()[1])]:,} nodes)" if label.startswith("level") else ", all levels"
    return f"{'  ' + label + nodes:<34}{spent.wall:>9.3f}{spent.cpu:>9.3f}{100 * spent.cpu / total:>7.1f}%"
