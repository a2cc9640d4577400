"""`treetop evaluate`: measure a model, or predictions from a file, on labelled texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from treetop.apps.options import Data, Precision, Reading, Running, number_or_words, output

__all__ = ["evaluate"]


def evaluate(
    data: Data,
    *,
    model: Annotated[Optional[Path], typer.Argument(help="Model folder.", show_default=False)] = None,  # noqa: UP045
    predictions: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option(help="Measure this file instead: .jsonl, .csv, .tsv, .parquet, .trec or .npz, of any program."),
    ] = None,
    fuser: Annotated[str, typer.Option(help="How several of these files become one.")] = "rank_average",
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    metrics: Annotated[Optional[str], typer.Option(help="Such as p@1,ndcg@5; all of the usual if absent.")] = None,  # noqa: UP045
    threshold: Annotated[
        Any,
        typer.Option(
            parser=number_or_words,
            metavar="NUMBER|AIM",
            help="Also precision, recall and F1 of labels from this score on: 0.4, f1, precision:0.9, …",
        ),
    ] = None,
    benchmark: Annotated[Optional[str], typer.Option(help="Public dataset whose propensity constants to use.")] = None,  # noqa: UP045
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write the figures to this file.")] = None,  # noqa: UP045
    reading: Reading,
    running: Running,
    precision: Precision = "float32",
) -> None:
    """Measure a model on labelled texts, or the predictions of any program.

    With both, the file is measured, and the model only lends what it knows of its training texts.
    """
    from treetop.apps import tables
    from treetop.apps.measure import figures_of, measure
    from treetop.errors import ConfigError
    from treetop.methods import load

    if model is None and not predictions:
        raise ConfigError("there is nothing to measure; give a model folder, or --predictions with a file")
    runtime = running.runtime(precision=precision)
    loaded = None if model is None else load(model, runtime=runtime)
    dataset = reading.read(data, runtime, split=split, space=None if loaded is None else loaded.space)
    asked = metrics.split(",") if metrics else None
    if predictions:
        from treetop.apps.predicted import read_fused, rows_by_id
        from treetop.data.readers import source_of

        rows = rows_by_id(source_of(data, split), reading.text, reading.encoding)
        found = read_fused(predictions, dataset.space.names, rows, len(dataset), fuser)
        figures = figures_of(found, dataset, asked, benchmark, model=loaded, threshold=threshold)
    else:
        assert loaded is not None
        figures = measure(loaded, dataset, asked, benchmark, threshold=threshold)
    tables.show_figures(figures)
    if json_file is not None:
        with output(json_file) as file:
            file.write(json.dumps(figures.flat(), indent=2) + "\n")
