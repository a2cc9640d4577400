"""What a search found, in the terminal: what was chosen, what it was compared with, and what mattered."""

from __future__ import annotations

from rich.table import Table

from treetop.apps.tables import notes, out
from treetop.apps.tuning.choosing import FEWEST, Chosen
from treetop.apps.tuning.encoded import Encoded
from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.recipe import figures, gap, named
from treetop.apps.tuning.trial import Trial
from treetop.progress.plan import duration

__all__ = ["say_chosen", "show_outcome"]

_MOST_ROWS = 8


def say_chosen(chosen: Chosen, texts: int) -> None:
    """In a line or two on standard error: what was chosen and why."""
    outcome = chosen.outcome
    if outcome is None:
        line = f"{texts:,} texts are too few to choose settings on ({FEWEST} are needed): the default is trained"
    else:
        best, default = outcome.chosen, outcome.default
        line = f"chosen: {outcome.space.words(best.setting)} ({figures(best)} on {chosen.held_out:,} held-out texts"
        if default is not None and default is not best:
            line += f", the default {figures(default)}"
        line += f"; {outcome.trainings} trainings, {outcome.seconds:,.0f} s)"
        line += f"; the budget allowed trials on {best.texts:,} texts only" if best.texts < outcome.texts else ""
        line += "" if outcome.keeps else f"; no setting that was tried keeps to {outcome.limits}, this is the nearest"
        line += "; interrupted, this was the best so far" if outcome.interrupted else ""
    notes.print(line, highlight=False, markup=False, soft_wrap=True)
    if chosen.encoded is not None:
        notes.print(_of_encoder(chosen.encoded), highlight=False, markup=False, soft_wrap=True)


def _of_encoder(tried: Encoded) -> str:
    if tried.metrics is None or tried.gain is None:
        needed = duration(2 * tried.expected_seconds)
        return f"no time is left to try the encoder, which takes about {needed}; give a larger --budget"
    verdict = "chosen with the encoder" if tried.pays else "the encoder does not pay"
    return f"{verdict}: {named(tried.metrics)} with it, not tuned ({gap(tried.gain)} in the mean)"


def show_outcome(outcome: Outcome) -> None:
    """The trials that decided, and what each answer is worth."""
    out.print(_finalists(outcome))
    out.print(_what_mattered(outcome))


def _finalists(outcome: Outcome) -> Table:
    title = f"the best settings, trained on {outcome.best.texts:,} texts, in per cent"
    table = Table(title=title, title_justify="left")
    for name in ("settings", *outcome.metrics, "below the best", "weights", "CPU"):
        table.add_column(name, justify="left" if name == "settings" else "right", no_wrap=name in outcome.metrics)
    shown = outcome.last[:_MOST_ROWS]
    asides = [one for one in (outcome.chosen, outcome.default) if one is not None and one not in shown]
    for trial in [*shown, *asides]:
        table.add_row(*_row(outcome, trial), style="bold" if trial is outcome.chosen else "")
    return table


def _row(outcome: Outcome, trial: Trial) -> list[str]:
    values = [f"{100 * value:.1f}" for value in trial.metrics.values()]
    below = "" if trial is outcome.best else gap(outcome.best.score.minus(trial.score)).removeprefix("+")
    return [outcome.space.words(trial.setting), *values, below, f"{trial.weights:,}", f"{trial.cpu_seconds:,.1f} s"]


def _what_mattered(outcome: Outcome) -> Table:
    table = Table(title="what mattered: points of the mean won by another answer, all else equal", title_justify="left")
    for name, justify in (("question", "left"), ("answer", "left"), ("points", "right"), ("on texts", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    taken = list(outcome.space.answers(outcome.chosen.setting))
    for one in outcome.mattered():
        style = "bold" if (one.question, one.answer) in taken else ""
        table.add_row(one.question.name, one.answer.name, gap(one.gain), f"{one.texts:,}", style=style)
    return table
