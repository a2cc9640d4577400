"""`treetop tune`: find the settings for some data on held-out texts, and write them as a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import (
    BUDGET_HELP,
    ENCODER_HELP,
    METRICS_HELP,
    TRIALS_HELP,
    Data,
    Quiet,
    Reading,
    Seed,
    Threads,
    make_runtime,
)

__all__ = ["tune"]


def tune(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to put the recipe, a TOML file for `treetop train --config`.")],
    *,
    budget: Annotated[Optional[str], typer.Option(help=BUDGET_HELP)] = None,  # noqa: UP045
    trials: Annotated[Optional[int], typer.Option(help=TRIALS_HELP)] = None,  # noqa: UP045
    metrics: Annotated[Optional[str], typer.Option(help=METRICS_HELP)] = None,  # noqa: UP045
    most_weights: Annotated[Optional[int], typer.Option(help="Weights that the model may have.")] = None,  # noqa: UP045
    most_mb: Annotated[Optional[float], typer.Option(help="Megabytes that the model folder may have.")] = None,  # noqa: UP045
    most_cpu: Annotated[Optional[float], typer.Option(help="CPU-seconds that its training may take.")] = None,  # noqa: UP045
    most_ms: Annotated[Optional[float], typer.Option(help="Milliseconds that one text may take.")] = None,  # noqa: UP045
    encoder: Annotated[Optional[str], typer.Option(help=ENCODER_HELP)] = None,  # noqa: UP045
    picture: Annotated[Optional[Path], typer.Option(help="Draw quality against cost: .svg or .png.")] = None,  # noqa: UP045
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a search that was cut off.")] = False,
    reading: Reading,
    seed: Seed = 0,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Find settings for your texts on held-out ones, and write them as a recipe.

    What does well on some of the training texts is tried on more. Ctrl-C keeps the best so far.
    """
    from functools import partial

    from treetop.apps.tuning.choosing import choose, wish_of
    from treetop.apps.tuning.limits import Limits
    from treetop.apps.tuning.picture import draw
    from treetop.apps.tuning.recipe import recipe
    from treetop.apps.tuning.tables import say_chosen, show_outcome
    from treetop.data import splits
    from treetop.store import whole_file

    limits = Limits(weights=most_weights, megabytes=most_mb, cpu_seconds=most_cpu, milliseconds=most_ms)
    wish = wish_of(budget, trials, metrics, limits)
    runtime = make_runtime(seed, threads, quiet)
    train = reading.read(data, runtime)
    dev = partial(reading.read, data, runtime, split="dev", space=train.space) if "dev" in splits(data) else None
    journal = out.with_name(f"{out.name}.trials")
    with whole_file(out) as file:
        chosen = choose(train, dev, wish, runtime, encoder=encoder, journal=journal, resume=resume)
        file.write(recipe(chosen, data.name, seed))
    if picture is not None and chosen.outcome is not None:
        draw(chosen.outcome, picture)
    journal.unlink(missing_ok=True)
    if quiet:
        return
    if chosen.outcome is not None:
        show_outcome(chosen.outcome)
    say_chosen(chosen, len(train))
    typer.echo(f"treetop train --data {data} --config {out} --out MODEL   # trains by it on all texts", err=True)
