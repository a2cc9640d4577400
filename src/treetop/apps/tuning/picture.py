"""Quality against cost: every setting that was tried on most texts, and those that nothing cheaper beats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.trial import Trial
from treetop.errors import MissingExtraError
from treetop.store import whole_bytes

__all__ = ["draw", "front"]


def front(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that no other beats at the same cost or less, the cheapest first (the Pareto front)."""
    found: list[Trial] = []
    for trial in sorted(trials, key=lambda one: (one.cpu_seconds, -one.score.value)):
        if not found or trial.score.value > found[-1].score.value:
            found.append(trial)
    return found


def draw(outcome: Outcome, path: Path) -> None:
    """Write the picture, as SVG or PNG by the ending of its name."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    trials, best = outcome.last, front(outcome.last)
    axes.scatter([one.cpu_seconds for one in trials], [100 * one.score.value for one in trials], color="0.6", s=18)
    axes.plot([one.cpu_seconds for one in best], [100 * one.score.value for one in best], marker="o")
    for name, trial in _marked(outcome).items():
        place = (trial.cpu_seconds, 100 * trial.score.value)
        axes.annotate(name, place, xytext=(8, -16), textcoords="offset points", arrowprops={"arrowstyle": "-"})
    axes.set_xscale("log")
    axes.set_xlabel("CPU-seconds of the training")
    axes.set_ylabel(f"mean of {', '.join(outcome.metrics)}, in per cent")
    axes.set_title(f"Settings tried on {outcome.best.texts:,} texts", loc="left")
    axes.grid(alpha=0.3)
    with whole_bytes(path) as file:
        figure.savefig(file, format=path.suffix.lstrip(".") or "svg", dpi=120)


def _marked(outcome: Outcome) -> dict[str, Trial]:
    """The trials that have a name."""
    if outcome.default is None:
        return {"chosen": outcome.chosen}
    if outcome.default is outcome.chosen:
        return {"chosen: the default": outcome.chosen}
    return {"chosen": outcome.chosen, "default": outcome.default}
