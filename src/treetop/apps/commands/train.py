"""`treetop train`: learn from tagged texts and write a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import (
    BUDGET_HELP,
    ENCODER_HELP,
    METHOD_HELP,
    TRIALS_HELP,
    Data,
    Device,
    Encoding,
    LabelField,
    Precision,
    Quiet,
    Seed,
    Separator,
    StripHtml,
    TextField,
    Threads,
    make_runtime,
)

__all__ = ["train"]

_TEST_SHARE = "Hold out this share of the texts, such as 0.1, and measure on them at the end."
_NAMES = "Count label names that are found in texts, if that helps: learned with the calibration."
_LABELS_FILE = "All labels there are, label<TAB>text per line: those without training texts are suggested by name."
_CALIBRATION = "Turn scores into probabilities: on dev texts by default, else on some texts held out."
_KEEP_TEXTS = "Keep the training texts with the model: `treetop explain` then shows those like a text."


def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to put the model folder.")],
    method: Annotated[Optional[str], typer.Option(help=METHOD_HELP)] = None,  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="Named settings; see `treetop presets`.")] = None,  # noqa: UP045
    config: Annotated[Optional[Path], typer.Option(help="TOML file with settings, as in recipes/.")] = None,  # noqa: UP045
    assignments: Annotated[Optional[list[str]], typer.Option("--set", help="One setting: tree.max_leaf=50.")] = None,  # noqa: UP045
    encoder: Annotated[Optional[str], typer.Option(help=ENCODER_HELP)] = None,  # noqa: UP045
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted transformer training.")] = False,
    budget: Annotated[Optional[str], typer.Option(help=BUDGET_HELP)] = None,  # noqa: UP045
    trials: Annotated[Optional[int], typer.Option(help=TRIALS_HELP)] = None,  # noqa: UP045
    test_share: Annotated[Optional[float], typer.Option(help=_TEST_SHARE)] = None,  # noqa: UP045
    evaluate: Annotated[bool, typer.Option(help="Measure on the data's dev and test texts at the end.")] = True,
    calibration: Annotated[Optional[bool], typer.Option(help=_CALIBRATION)] = None,  # noqa: UP045
    keep_texts: Annotated[bool, typer.Option("--keep-texts", help=_KEEP_TEXTS)] = False,
    names: Annotated[bool, typer.Option(help=_NAMES)] = True,
    labels_file: Annotated[Optional[Path], typer.Option(help=_LABELS_FILE)] = None,  # noqa: UP045
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    encoding: Encoding = None,
    strip_html: StripHtml = False,
    seed: Seed = 0,
    threads: Threads = 0,
    device: Device = "cpu",
    precision: Precision = "float32",
    quiet: Quiet = False,
) -> None:
    """Learn from tagged texts and write a model folder.

    Without a method, preset, recipe or settings of your own, settings are chosen on held-out texts first: see `tune`.
    """
    from functools import partial

    from treetop.apps import tables
    from treetop.apps.calibrating import Naming, choose_calibrating
    from treetop.apps.held_out import held_out, other_splits
    from treetop.apps.measure import measure
    from treetop.apps.training import asks_to_choose, checkpoint_folder, learn, make_model, make_plan
    from treetop.apps.tuning.choosing import choose, wish_of
    from treetop.apps.tuning.tables import say_chosen
    from treetop.data import read
    from treetop.data.labelfile import read_catalogue
    from treetop.methods.resolving import decide
    from treetop.runtime import is_leader
    from treetop.store import Folder

    naming = Naming(names, None if labels_file is None else read_catalogue(labels_file))
    naming.check()
    own = (preset, config, assignments)
    wish = wish_of(budget, trials) if asks_to_choose(method, *own, search=(budget, trials), resume=resume) else None
    file = None if config is None else str(config)
    name, settings = decide(None if wish else method, preset, file, tuple(assignments or ()), None if wish else encoder)
    Folder.check_target(out)
    quiet = quiet or not is_leader()
    runtime = make_runtime(seed, threads, quiet, device, precision)
    others = other_splits(data, test_share)
    begun = checkpoint_folder(out).exists()
    model = make_model(name, settings, out, runtime, resume=resume)
    read_split = partial(
        read,
        data,
        text=text,
        labels=labels,
        separator=separator,
        encoding=encoding,
        strip_html=strip_html,
        runtime=runtime,
    )
    whole = read_split(split="train")
    dataset, test = held_out(whole, test_share, seed)
    dev = partial(read_split, split="dev", space=dataset.space) if "dev" in others else None
    if wish is not None:
        chosen = choose(dataset, dev, wish, runtime, encoder=encoder)
        name = chosen.method
        model = make_model(name, chosen.settings, out, runtime, resume=resume)
        if not quiet:
            say_chosen(chosen, len(dataset))
    calibrating = choose_calibrating(name, dataset, dev, calibration, seed, naming)
    plan = make_plan(model, calibrating.train, quiet=quiet)
    if not quiet:
        tables.say_findings(whole.findings)
        tables.warn_of_memory(model, plan.memory)
    if resume and not begun and not quiet:
        typer.echo("there is nothing to resume yet: the training begins at its start", err=True)
    problem = learn(model, calibrating, plan, out, quiet=quiet, keep=dataset if keep_texts else None)
    if not quiet:
        tables.say_trained(model, out)
        tables.say_names(model)
        tables.say_calibrated(model, problem)
        tables.say_kept(model)
    if test is not None and is_leader():
        tables.show_figures(measure(model, test), "held-out texts")
    for split in others if evaluate and not quiet else ():
        figures = measure(model, read_split(split=split, space=model.space))
        in_sample = split == "dev" and model.calibration is not None
        chosen_on = ", which settings were chosen on" if split == "dev" and wish is not None else ""
        tables.show_figures(figures.without_calibration() if in_sample else figures, f"{split} texts{chosen_on}")
