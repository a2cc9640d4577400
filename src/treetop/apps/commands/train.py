"""`treetop train`: learn from tagged texts and write a model folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Optional

import typer

from treetop.apps.cluster.option import Machines
from treetop.apps.options import (
    BUDGET_HELP,
    ENCODER_HELP,
    METHOD_HELP,
    METRICS_HELP,
    TRIALS_HELP,
    Data,
    Precision,
    Reading,
    Running,
    Seed,
)

if TYPE_CHECKING:
    from treetop.apps.calibrating import Naming
    from treetop.apps.held_out import Material
    from treetop.apps.tuning.choosing import Chosen
    from treetop.apps.tuning.search import Wish
    from treetop.methods import Method
    from treetop.runtime import Runtime

__all__ = ["train"]

_TEST_SHARE = "Hold out this share of the texts, such as 0.1, and measure on them at the end."
_NAMES = "Count label names that are found in texts, if that helps: learned with the calibration."
_LABELS_FILE = "All labels there are, label<TAB>text per line: those without training texts are suggested by name."
_CALIBRATION = "Turn scores into probabilities: on dev texts by default, else on some texts held out."
_KEEP_TEXTS = "Keep the training texts with the model: `treetop explain` then shows those like a text."


@dataclass(frozen=True)
class Choice:
    """What is trained: a method with settings of one's own, or what a search finds."""

    title: ClassVar[str] = "Method and settings"
    method: Annotated[Optional[str], typer.Option(help=METHOD_HELP)] = None  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="Named settings; see `treetop presets`.")] = None  # noqa: UP045
    config: Annotated[Optional[Path], typer.Option(help="TOML file with settings, as in recipes/.")] = None  # noqa: UP045
    assignments: Annotated[Optional[list[str]], typer.Option("--set", help="One setting: tree.max_leaf=50.")] = None  # noqa: UP045
    encoder: Annotated[Optional[str], typer.Option(help=ENCODER_HELP)] = None  # noqa: UP045
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted transformer training.")] = False
    budget: Annotated[Optional[str], typer.Option(help=BUDGET_HELP)] = None  # noqa: UP045
    trials: Annotated[Optional[int], typer.Option(help=TRIALS_HELP)] = None  # noqa: UP045
    metrics: Annotated[Optional[str], typer.Option(help=METRICS_HELP)] = None  # noqa: UP045

    def decided(self) -> tuple[str, Any, Wish | None]:
        """The method and its configuration, and what a search is asked for that is to find better ones."""
        from treetop.apps.training import asks_to_choose
        from treetop.apps.tuning.choosing import wish_of
        from treetop.methods.resolving import decide

        own = (self.preset, self.config, self.assignments)
        if asks_to_choose(self.method, *own, search=(self.budget, self.trials, self.metrics), resume=self.resume):
            return *decide(), wish_of(self.budget, self.trials, self.metrics)
        file = None if self.config is None else str(self.config)
        return *decide(self.method, self.preset, file, tuple(self.assignments or ()), self.encoder), None


@dataclass(frozen=True)
class Extras:
    """What is done besides training."""

    title: ClassVar[str] = "Held-out texts, probabilities, names"
    test_share: Annotated[Optional[float], typer.Option(help=_TEST_SHARE)] = None  # noqa: UP045
    evaluate: Annotated[bool, typer.Option(help="Measure on the data's dev and test texts at the end.")] = True
    calibration: Annotated[Optional[bool], typer.Option(help=_CALIBRATION)] = None  # noqa: UP045
    keep_texts: Annotated[bool, typer.Option("--keep-texts", help=_KEEP_TEXTS)] = False
    names: Annotated[bool, typer.Option(help=_NAMES)] = True
    labels_file: Annotated[Optional[Path], typer.Option(help=_LABELS_FILE)] = None  # noqa: UP045

    def naming(self) -> Naming:
        """Whether label names count, and which there are."""
        from treetop.apps.calibrating import Naming
        from treetop.data.labelfile import read_catalogue

        naming = Naming(self.names, None if self.labels_file is None else read_catalogue(self.labels_file))
        naming.check()
        return naming


def train(
    context: typer.Context,
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to put the model folder.")],
    *,
    choice: Choice,
    extras: Extras,
    reading: Reading,
    running: Running,
    machines: Machines,
    seed: Seed = 0,
    precision: Precision = "float32",
) -> None:
    """Learn from tagged texts and write a model folder.

    Without a method, preset, recipe or settings of your own, settings are chosen on held-out texts first: see `tune`.
    """
    from functools import partial

    from treetop.apps import tables
    from treetop.apps.calibrating import choose_calibrating
    from treetop.apps.held_out import gather
    from treetop.apps.measure import measure
    from treetop.apps.training import checkpoint_folder, learn, make_model, make_plan
    from treetop.runtime import is_leader
    from treetop.store import Folder, discard

    naming = extras.naming()
    name, config, wish = choice.decided()
    Folder.check_target(out)
    running = replace(running, quiet=running.quiet or not is_leader())
    machines.check(name, chooses=wish is not None)
    quiet = running.quiet
    runtime = context.with_resource(machines.training(running.runtime(seed, precision), out))
    begun = checkpoint_folder(out).exists()
    make = partial(make_model, out=out, runtime=runtime, resume=choice.resume)
    model = make(name, config)
    texts = gather(data, reading, runtime, extras.test_share)
    if wish is not None:
        if not quiet:  # now: a search takes minutes
            tables.say_findings(texts.whole.findings)
        chosen = _search(texts, wish, choice.encoder, runtime, quiet=quiet)
        model = make(chosen.method, chosen.settings)
    calibrating = choose_calibrating(model.name, texts.train, texts.dev, extras.calibration, seed, naming)
    plan = make_plan(model, calibrating.train, quiet=quiet)
    if not quiet:
        if wish is None:
            tables.say_findings(texts.whole.findings)
        tables.warn_of_memory(model, plan.memory)
        if choice.resume and not begun:
            typer.echo("there is nothing to resume yet: the training begins at its start", err=True)
    problem = learn(model, calibrating, plan, out, quiet=quiet, keep=texts.train if extras.keep_texts else None)
    discard(machines.folder(out))
    if not quiet:
        tables.say_learned(model, out, problem)
    if texts.test is not None and is_leader():
        tables.show_figures(measure(model, texts.test), "held-out texts")
    if extras.evaluate and not quiet:
        _measure_others(model, data, reading, texts, chosen_on_dev=wish is not None)


def _search(texts: Material, wish: Wish, encoder: str | None, runtime: Runtime, *, quiet: bool) -> Chosen:
    """The settings that do best on held-out texts."""
    from treetop.apps.tuning.choosing import choose
    from treetop.apps.tuning.tables import say_chosen

    chosen = choose(texts.train, texts.dev, wish, runtime, encoder=encoder)
    if not quiet:
        say_chosen(chosen, len(texts.train))
    return chosen


def _measure_others(model: Method[Any], data: Path, reading: Reading, texts: Material, *, chosen_on_dev: bool) -> None:
    """Figures on the dev and test texts of the data; of dev texts it is said what they were used for."""
    from treetop.apps import tables
    from treetop.apps.measure import measure

    for split in texts.others:
        figures = measure(model, reading.read(data, model.runtime, split=split, space=model.space))
        in_sample = split == "dev" and model.calibration is not None
        used = ", which settings were chosen on" if split == "dev" and chosen_on_dev else ""
        tables.show_figures(figures.without_calibration() if in_sample else figures, f"{split} texts{used}")
