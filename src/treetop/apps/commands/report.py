"""`treetop report`: what a model does, or several beside one another, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Data, Reading, Running

__all__ = ["report"]


def report(
    models: Annotated[list[Path], typer.Argument(help="Model folders, or files of predictions.", show_default=False)],
    data: Data,
    out: Annotated[Path, typer.Option(help="The page, a file that ends in .html.")] = Path("report.html"),
    *,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write the figures to this file.")] = None,  # noqa: UP045
    labels_csv: Annotated[Path | None, typer.Option(help="Also write the figures of every label to this file.")] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Train XR-Linear on the data's training texts and put it beside.")
    ] = False,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    benchmark: Annotated[Optional[str], typer.Option(help="Public dataset whose propensity constants to use.")] = None,  # noqa: UP045
    reading: Reading,
    running: Running,
) -> None:
    """Show what models do on labelled texts: one page that opens anywhere and asks for nothing.

    Quality with paired errors, common and rare labels, probabilities, thresholds, every label, the worst errors, cost,
    settings. Differences are to the first model.
    """
    from treetop.apps.comparing import Wanted
    from treetop.apps.report.writing import Files, write_report

    wanted, files = Wanted(data, split, reading), Files(out, json_file, labels_csv)
    size = write_report(models, wanted, files, running.runtime(), baseline=baseline, benchmark=benchmark)
    if not running.quiet:
        typer.echo(f"{out}: {size / 2**20:.2f} MiB", err=True)
