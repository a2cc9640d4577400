"""The demo: train on the docstrings of this Python installation, and look at what comes out.

First a linear model, in a second. Then, if the extra `minilm` is there, a small pretrained encoder reads the same
texts, as it is and then fine-tuned on them, and all stand side by side.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from treetop.apps import tables
from treetop.apps.measure import Figures, measure
from treetop.apps.tuning.encoded import NEEDED
from treetop.data import Dataset
from treetop.data.demo import demo_corpus
from treetop.errors import TreetopError, install_command
from treetop.methods import Method, load, method_class
from treetop.methods.resolving import resolve
from treetop.runtime import Runtime

__all__ = ["run_demo"]

_SHOWN = 5
_TRANSFORMER = "xr-transformer"
_TOKENS = ("encoder.max_tokens=64",)
_SETTINGS = (
    "encoder.freeze=-2", "encoder.keep_frozen=true", "coarse_tree.top_width=512", "finest=512",
    "loss=bce", "relevance=off", "optim.epochs=1", "optim.lr=2e-4", "optim.head_lr_factor=10",
)  # fmt: skip
"""One pass over the texts with the two uppermost layers: a few minutes on two cores; see docs/experiments."""


def run_demo(out: Path | None, runtime: Runtime, *, transformer: bool = True) -> None:
    """Collect, train, save, load again, predict a few texts, measure; then the same with a transformer, and compare."""
    train, test = demo_corpus()
    tables.out.print(
        f"Docstrings of this Python installation: {len(train):,} to learn from, {len(test):,} to test on, "
        f"{len(train.space):,} labels."
    )
    with tempfile.TemporaryDirectory() as scratch:
        path = out or Path(scratch) / "demo-model"
        linear = _train("xr-linear", (), train, path, runtime)
        _show(linear, test)
        figures = measure(linear, test)
        tables.show_figures(figures)
        if transformer:
            _add_transformer(train, test, figures, path, runtime)


def _train(
    method: str, settings: tuple[str, ...], train: Dataset, path: Path, runtime: Runtime, preset: str | None = None
) -> Method[Any]:
    config = resolve(method, preset_name=preset, assignments=settings)
    model = method_class(method)(config, runtime=runtime).fit(train)
    model.save(path)
    tables.say_trained(model, path)
    return load(path, runtime=runtime)


def _show(model: Method[Any], test: Dataset) -> None:
    step = max(1, len(test) // _SHOWN)
    chosen = test.take(range(0, step * _SHOWN, step))
    for number, suggestions in enumerate(model.predict(chosen, k=5)):
        true = [test.space.names[int(label)] for label in chosen.labels[[number]].indices]
        tables.show_suggestions(chosen.corpus.texts[number], suggestions, true)
    tables.out.print()


def _add_transformer(train: Dataset, test: Dataset, linear: Figures, path: Path, runtime: Runtime) -> None:
    missing = [package for package in NEEDED if importlib.util.find_spec(package) is None]
    if missing:
        tables.out.print(
            f"A transformer would follow, but {missing[0]} is not installed: {install_command('minilm')}", markup=False
        )
        return
    figures: dict[str, Figures] = {"xr-linear": linear}
    try:
        tables.out.print("\nNow a small pretrained encoder (MiniLM, 6 layers) reads the same texts, as it is.")
        instant = _train(_TRANSFORMER, _TOKENS, train, path.with_name(f"{path.name}-instant"), runtime, "instant")
        figures["instant"] = measure(instant, test)
        tables.compare_figures(figures)
        tables.out.print("\nAnd now it learns from them, for a few minutes.")
        path = path.with_name(f"{path.name}-transformer")
        figures[_TRANSFORMER] = measure(_train(_TRANSFORMER, _TOKENS + _SETTINGS, train, path, runtime), test)
    except TreetopError as error:  # what came before was worth seeing all the same
        tables.out.print(f"The transformer could not be trained here: {error}", markup=False)
        return
    tables.compare_figures(figures)
