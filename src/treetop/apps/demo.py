"""The demo: train on the docstrings of this Python installation, and look at what comes out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from treetop.apps import tables
from treetop.apps.measure import measure
from treetop.data.demo import demo_corpus
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.runtime import Runtime

__all__ = ["run_demo"]

_SHOWN = 5


def run_demo(out: Path | None, runtime: Runtime) -> None:
    """Collect, train, save, load again, predict a few texts, measure."""
    train, test = demo_corpus()
    tables.out.print(
        f"Docstrings of this Python installation: {len(train):,} to learn from, {len(test):,} to test on, "
        f"{len(train.space):,} labels."
    )
    with tempfile.TemporaryDirectory() as scratch:
        path = out or Path(scratch) / "demo-model"
        model = XRLinear(XRLinearConfig(), runtime=runtime).fit(train)
        model.save(path)
        tables.say_trained(model, path)
        loaded = XRLinear.load(path, runtime=runtime)
    step = max(1, len(test) // _SHOWN)
    chosen = test.take(range(0, step * _SHOWN, step))
    for number, suggestions in enumerate(loaded.predict(chosen, k=5)):
        true = [test.space.names[int(label)] for label in chosen.labels[[number]].indices]
        tables.show_suggestions(chosen.corpus.texts[number], suggestions, true)
    tables.out.print()
    tables.show_figures(measure(loaded, test))
