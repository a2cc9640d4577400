"""`treetop tune`: find the settings for some data on held-out texts, and write them as a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Optional

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

if TYPE_CHECKING:
    from treetop.apps.tuning.limits import Limits

__all__ = ["tune"]


@dataclass(frozen=True)
class Most:
    """What the model may cost, at most."""

    title: ClassVar[str] = "What the model may cost"
    weights: Annotated[Optional[int], typer.Option("--most-weights", help="Weights that it may have.")] = None  # noqa: UP045
    megabytes: Annotated[Optional[float], typer.Option("--most-mb", help="Megabytes of its folder.")] = None  # noqa: UP045
    seconds: Annotated[Optional[float], typer.Option("--most-cpu", help="CPU-seconds of its training.")] = None  # noqa: UP045
    milliseconds: Annotated[Optional[float], typer.Option("--most-ms", help="Milliseconds for one text.")] = None  # noqa: UP045

    def limits(self) -> Limits:
        """The same for the search."""
        from treetop.apps.tuning.limits import Limits

        return Limits(
            weights=self.weights, megabytes=self.megabytes, cpu_seconds=self.seconds, milliseconds=self.milliseconds
        )


def tune(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to put the recipe, a TOML file for `treetop train --config`.")],
    *,
    budget: Annotated[Optional[str], typer.Option(help=BUDGET_HELP)] = None,  # noqa: UP045
    trials: Annotated[Optional[int], typer.Option(help=TRIALS_HELP)] = None,  # noqa: UP045
    metrics: Annotated[Optional[str], typer.Option(help=METRICS_HELP)] = None,  # noqa: UP045
    encoder: Annotated[Optional[str], typer.Option(help=ENCODER_HELP)] = None,  # noqa: UP045
    picture: Annotated[Optional[Path], typer.Option(help="Draw quality against cost: .svg or .png.")] = None,  # noqa: UP045
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a search that was cut off.")] = False,
    most: Most,
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
    from treetop.apps.tuning.picture import draw
    from treetop.apps.tuning.recipe import recipe
    from treetop.apps.tuning.tables import say_chosen, show_outcome
    from treetop.data import splits
    from treetop.store import whole_file

    wish = wish_of(budget, trials, metrics, most.limits())
    runtime = make_runtime(seed, threads, quiet)
    train = reading.read(data, runtime)
    dev = partial(reading.read, data, runtime, split="dev", space=train.space) if "dev" in splits(data) else None
    with whole_file(out) as file:
        journal = out.with_name(f"{out.name}.trials")
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
