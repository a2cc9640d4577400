"""`treetop report`: what a model does, or several beside one another, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import (
    Data,
    Device,
    Encoding,
    LabelField,
    Quiet,
    Separator,
    StripHtml,
    TextField,
    Threads,
    make_runtime,
)

__all__ = ["report"]


def report(
    models: Annotated[list[Path], typer.Argument(help="Model folders, or files of predictions.", show_default=False)],
    data: Data,
    out: Annotated[Path, typer.Option(help="The page, a file that ends in .html.")] = Path("report.html"),
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write the figures to this file.")] = None,  # noqa: UP045
    labels_csv: Annotated[Path | None, typer.Option(help="Also write the figures of every label to this file.")] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Train XR-Linear on the data's training texts and put it beside.")
    ] = False,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    benchmark: Annotated[Optional[str], typer.Option(help="Public dataset whose propensity constants to use.")] = None,  # noqa: UP045
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    encoding: Encoding = None,
    strip_html: StripHtml = False,
    threads: Threads = 0,
    device: Device = "cpu",
    quiet: Quiet = False,
) -> None:
    """Show what models do on labelled texts: one page that opens anywhere and asks for nothing.

    Quality with paired errors, common and rare labels, probabilities, thresholds, every label, the worst errors, cost,
    settings. Differences are to the first model.
    """
    from treetop.apps.comparing import Wanted
    from treetop.apps.report.writing import Files, write_report

    wanted = Wanted(data, split, text, labels, separator, encoding, strip_html)
    runtime = make_runtime(0, threads, quiet, device)
    size = write_report(
        models, wanted, Files(out, json_file, labels_csv), runtime, baseline=baseline, benchmark=benchmark
    )
    if not quiet:
        typer.echo(f"{out}: {size / 2**20:.2f} MiB", err=True)
