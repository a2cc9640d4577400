"""`treetop ensemble`: let trained models vote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Reading, Running, numbers
from treetop.errors import ConfigError

__all__ = ["ensemble"]


def ensemble(
    models: Annotated[list[Path], typer.Argument(help="Model folders, of the same labels.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Where to put the folder of the ensemble.")],
    *,
    fuser: Annotated[Optional[str], typer.Option(help="What is averaged: average (scores), rank_average, …")] = None,  # noqa: UP045
    weights: Annotated[Optional[str], typer.Option(help="A number per model, as 2,1,1.")] = None,  # noqa: UP045
    data: Annotated[Optional[Path], typer.Option(help="Choose members, fuser and weights on these texts.")] = None,  # noqa: UP045
    split: Annotated[str, typer.Option(help="Which part of the data; not the one you will report.")] = "dev",
    calibration: Annotated[bool, typer.Option(help="Turn scores into probabilities on the texts of --data.")] = True,
    reading: Reading,
    running: Running,
) -> None:
    """Let trained models vote: one model folder like any other."""
    from treetop.apps import tables
    from treetop.apps.calibrating import Naming, learned
    from treetop.config import override
    from treetop.methods import load
    from treetop.methods.ensemble import Ensemble, EnsembleConfig, choose, usual_fuser
    from treetop.store import Folder

    if data is not None and (fuser or weights):
        raise ConfigError("--data chooses fuser and weights; leave out --fuser and --weights, or --data")
    Folder.check_target(out)
    if out.resolve() in [path.resolve() for path in models]:
        raise ConfigError(f"--out is {out}, one of the members, which would be replaced; choose another place")
    runtime = running.runtime()
    members = [load(path, runtime=runtime) for path in models]
    problem = None
    if data is None:
        settings = override(EnsembleConfig(), [f"fuser={fuser or usual_fuser(members)}"])
        model = Ensemble.of(members, replace(settings, weights=numbers("--weights", weights) if weights else None))
    else:
        dataset = reading.read(data, runtime, split=split, space=members[0].space)
        model = choose(members, dataset)
        naming = Naming(wanted=not any(member.naming is not None for member in model.members))  # theirs count already
        problem = learned(model, dataset, naming) if calibration else None
    model.save(out)
    if not running.quiet:
        tables.say_names(model)
        tables.say_calibrated(model, problem)
        tables.say_ensemble(model, [path for path, one in zip(models, members, strict=True) if one in model.members])
