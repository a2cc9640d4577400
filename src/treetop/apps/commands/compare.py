"""`treetop compare`: several models, or saved predictions, on the same texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Data, Reading, Running, output

__all__ = ["compare"]


def compare(
    models: Annotated[list[Path], typer.Argument(help="Model folders, or files of predictions.", show_default=False)],
    data: Data,
    *,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    metrics: Annotated[Optional[str], typer.Option(help="Such as p@1,ndcg@5; all of the usual if absent.")] = None,  # noqa: UP045
    benchmark: Annotated[Optional[str], typer.Option(help="Public dataset whose propensity constants to use.")] = None,  # noqa: UP045
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write all figures to this file.")] = None,  # noqa: UP045
    reading: Reading,
    running: Running,
) -> None:
    """Compare models on the same texts: quality with paired errors, rare labels, cost, and what is beyond chance.

    Differences are to the first. Files of predictions, of any program, take part as in `evaluate --predictions`.
    """
    from treetop.apps.comparing import Wanted, compare, line_up
    from treetop.apps.comparing.tables import show_comparison
    from treetop.metrics import DEFAULT, PROPENSITY_SCORED, largest_k

    asked = metrics.split(",") if metrics else None
    k = largest_k(asked or (*DEFAULT, *PROPENSITY_SCORED))
    wanted = Wanted(data, split, reading)
    found = compare(line_up(models, wanted, max(k, 5), running.runtime()), asked, benchmark)
    show_comparison(found, asked)
    if json_file is not None:
        with output(json_file) as file:
            file.write(json.dumps(found.flat(), ensure_ascii=False, indent=2) + "\n")
