"""`treetop reproduce`: a row of a paper's table, made again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Precision, Running, Seed

__all__ = ["reproduce"]

_DATA = "Folder of a release, as downloaded, with its train and test texts (docs/data.md)."
_OUT = "Folder of the run, which the same command continues; METHOD-BENCHMARK if absent."
_SCALE = "Only this share of the texts, such as 0.01; steps and trees are scaled with them."
_ENCODER = "This encoder in the place of all the paper's: a folder, a hub name, or 'minilm'."


def reproduce(
    method: Annotated[str, typer.Argument(help="A method of the papers: xr-transformer, …", show_default=False)],
    benchmark: Annotated[str, typer.Argument(help="A dataset of its paper: amazon-670k, …", show_default=False)],
    data: Annotated[Path, typer.Option(help=_DATA)],
    *,
    out: Annotated[Optional[Path], typer.Option(help=_OUT)] = None,  # noqa: UP045
    scale: Annotated[float, typer.Option(help=_SCALE)] = 1.0,
    encoder: Annotated[Optional[str], typer.Option(help=_ENCODER)] = None,  # noqa: UP045
    single: Annotated[bool, typer.Option("--single", help="One model instead of the paper's ensemble.")] = False,
    assignments: Annotated[Optional[list[str]], typer.Option("--set", help="One setting for all models.")] = None,  # noqa: UP045
    models: Annotated[bool, typer.Option(help="Keep the models, not only their rankings.")] = True,
    running: Running,
    seed: Seed = 0,
    precision: Precision = "float32",
) -> None:
    """Train the models behind a row of a paper's table, and show their figures beside the published ones."""
    from treetop.apps.reproducing import make, order, show
    from treetop.apps.reproducing.table import say
    from treetop.runtime import is_leader

    running = replace(running, quiet=running.quiet or not is_leader())
    runtime = running.runtime(seed, precision)
    wanted = order(
        method, benchmark, data, scale=scale, encoder=encoder, single=single, assignments=assignments or (),
        runtime=runtime,
    )  # fmt: skip
    if not running.quiet:
        say(wanted)
    made = make(wanted, out or Path(f"{method}-{benchmark.lower()}"), runtime, models=models)
    if is_leader():
        show(wanted, made)
