"""`treetop calibrate`: turn the scores of a trained model into probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Data, ModelPath, Reading, Running

__all__ = ["calibrate"]


_NAMES = "First learn what label names found in texts are worth; rankings change then."
_LABELS_FILE = "The same, with labels the model was not trained on: label<TAB>text per line, suggested by name."


def calibrate(
    model: ModelPath,
    data: Data,
    *,
    split: Annotated[str, typer.Option(help="Which part of the data; not the one you will report.")] = "dev",
    out: Annotated[Optional[Path], typer.Option(help="Where to put it; in place of the model if absent.")] = None,  # noqa: UP045
    names: Annotated[bool, typer.Option(help=_NAMES)] = False,
    labels_file: Annotated[Optional[Path], typer.Option(help=_LABELS_FILE)] = None,  # noqa: UP045
    reading: Reading,
    running: Running,
) -> None:
    """Turn the scores of a trained model into probabilities, by texts that it has not seen."""
    from treetop.apps import tables
    from treetop.data.labelfile import read_catalogue
    from treetop.methods import load
    from treetop.store import Folder

    target = model if out is None else out
    Folder.check_target(target)
    runtime = running.runtime()
    loaded = load(model, runtime=runtime)
    dataset = reading.read(data, runtime, split=split, space=loaded.space)
    if names or labels_file is not None:
        loaded.learn_names(dataset, catalogue=None if labels_file is None else read_catalogue(labels_file))
    loaded.calibrate(dataset)
    loaded.save(target)
    if not running.quiet:
        if names or labels_file is not None:
            tables.say_names(loaded)
        tables.say_calibrated(loaded)
