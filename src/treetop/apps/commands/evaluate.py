"""`treetop evaluate`: measure a model on labelled texts."""

from __future__ import annotations

import json
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
    output,
)

__all__ = ["evaluate"]


def evaluate(
    model: ModelPath,
    data: Data,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    metrics: Annotated[Optional[str], typer.Option(help="Such as p@1,ndcg@5; all of the usual if absent.")] = None,  # noqa: UP045
    benchmark: Annotated[Optional[str], typer.Option(help="Public dataset whose propensity constants to use.")] = None,  # noqa: UP045
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write the figures to this file.")] = None,  # noqa: UP045
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    encoding: Encoding = None,
    strip_html: StripHtml = False,
    threads: Threads = 0,
    device: Device = "cpu",
    quiet: Quiet = False,
) -> None:
    """Measure a model on labelled texts."""
    from treetop.apps import tables
    from treetop.apps.measure import measure
    from treetop.data import read
    from treetop.methods import load

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
    figures = measure(loaded, dataset, metrics.split(",") if metrics else None, benchmark)
    tables.show_figures(figures)
    if json_file is not None:
        with output(json_file) as file:
            file.write(json.dumps(figures.flat(), indent=2) + "\n")
