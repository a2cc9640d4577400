"""`treetop calibrate`: turn the scores of a trained model into probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import (
    Data,
    Device,
    Encoding,
    LabelField,
    ModelPath,
    Quiet,
    Separator,
    StripHtml,
    TextField,
    Threads,
    make_runtime,
)

__all__ = ["calibrate"]


def calibrate(
    model: ModelPath,
    data: Data,
    split: Annotated[str, typer.Option(help="Which part of the data; not the one you will report.")] = "dev",
    out: Annotated[Optional[Path], typer.Option(help="Where to put it; in place of the model if absent.")] = None,  # noqa: UP045
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    encoding: Encoding = None,
    strip_html: StripHtml = False,
    threads: Threads = 0,
    device: Device = "cpu",
    quiet: Quiet = False,
) -> None:
    """Turn the scores of a trained model into probabilities, by texts that it has not seen."""
    from treetop.apps import tables
    from treetop.data import read
    from treetop.methods import load
    from treetop.store import Folder

    target = model if out is None else out
    Folder.check_target(target)
    runtime = make_runtime(0, threads, quiet, device)
    loaded = load(model, runtime=runtime)
    dataset = read(
        data,
        split=split,
        space=loaded.space,
        text=text,
        labels=labels,
        separator=separator,
        encoding=encoding,
        strip_html=strip_html,
        runtime=runtime,
    )
    loaded.calibrate(dataset)
    loaded.save(target)
    if not quiet:
        tables.say_calibrated(loaded)
