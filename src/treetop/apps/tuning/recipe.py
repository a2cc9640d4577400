"""A recipe: the settings that were chosen as a TOML file that people can read, with what is known about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treetop.apps.toml import lines
from treetop.apps.tuning.choosing import Chosen
from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.trial import Trial
from treetop.config import difference
from treetop.metrics import Difference

__all__ = ["figures", "gap", "named", "recipe"]


def recipe(chosen: Chosen, data: str, seed: int) -> str:
    """The TOML file: `treetop train --config FILE` trains by it."""
    found = [*_head(chosen, data, seed), f'method = "{chosen.method}"']
    if chosen.method != "xr-linear":
        found += list(lines(difference(chosen.settings, type(chosen.settings)())))
    elif chosen.outcome is not None:
        found += list(lines(chosen.outcome.space.values(chosen.outcome.chosen.setting)))
    return "\n".join(found) + "\n"


def figures(trial: Trial) -> str:
    """The metrics of a trial in per cent, as P@1/3/5 34.8/21.9/16.0."""
    return named(trial.metrics)


def named(metrics: Mapping[str, float]) -> str:
    """Metrics in per cent behind their names."""
    names = "/".join(metrics).replace("p@1/p@3/p@5", "P@1/3/5")
    return f"{names} {'/'.join(f'{100 * value:.1f}' for value in metrics.values())}"


def gap(difference: Difference) -> str:
    """A difference in points with its error."""
    return f"{100 * difference.value:+.1f} ± {100 * difference.standard_error:.1f}"


def _head(chosen: Chosen, data: str, seed: int) -> Iterator[str]:
    outcome = chosen.outcome
    if outcome is None:
        yield f"# The default: {data} has too few texts to choose settings on."
        return
    best = outcome.chosen
    yield f"# Chosen by treetop tune for {data} on {chosen.held_out:,} held-out texts: {_effort(outcome)}, seed {seed}."
    yield f"# There: {figures(best)}{_against_default(outcome)}."
    for question, answer in outcome.space.changes(best.setting):
        yield f"# {question.name}: {answer.what}{_worth(outcome, question.name, answer.name)}"
    if chosen.encoded is not None and chosen.encoded.metrics is not None and chosen.encoded.gain is not None:
        gain = gap(chosen.encoded.gain)
        yield f"# With the encoder, not tuned: {named(chosen.encoded.metrics)} ({gain} in the mean)."
    others = [outcome.space.words(one.setting) for one in outcome.as_good if one is not best]
    if others:
        yield "# As good within one standard error, but less simple:"
        yield from (f"#   {words}" for words in others)


def _effort(outcome: Outcome) -> str:
    ended = ", interrupted" if outcome.interrupted else ""
    return f"{outcome.trainings} trainings in {outcome.seconds:,.0f} s{ended}"


def _against_default(outcome: Outcome) -> str:
    """How the default did on the same texts, if it was tried on as many."""
    default = outcome.default
    if default is None or default is outcome.chosen:
        return ""
    return f"; the default: {figures(default)} ({gap(outcome.chosen.score.minus(default.score))} in the mean)"


def _worth(outcome: Outcome, question: str, answer: str) -> str:
    """What an answer was worth by itself, if a pair of trials tells."""
    for one in outcome.mattered():
        if (one.question.name, one.answer.name) == (question, answer):
            return f" ({gap(one.gain)} points on {one.texts:,} texts)"
    return ""
