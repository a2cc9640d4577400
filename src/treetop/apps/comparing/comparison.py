"""What several contenders reach on the same texts, how sure that is, and which of their differences are real.

A difference is called real if it is so among all pairs of contenders, on one metric, with a chance of 95 %: paired
standard errors, and Holm's correction for the number of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import isfinite
from typing import Any

from treetop.apps.comparing.contenders import Field
from treetop.apps.measure import FEW_COPIES
from treetop.errors import ConfigError
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Propensity, Spread, breakdown, evaluate, holm
from treetop.metrics.differences import spread, spread_of_bands
from treetop.metrics.evaluate import parse
from treetop.presets.datasets import propensity_constants

__all__ = ["BAND_CUT", "Comparison", "Line", "Verdict", "compare"]

BAND_CUT = 5
"""Of each band of labels, the share that is found among so many suggestions."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How much better one contender is than another."""

    value: float
    standard_error: float
    real: bool
    """Whether the difference is more than chance."""

    @property
    def mark(self) -> str:
        """▲ better, ▼ worse, ≈ may be chance."""
        return "≈" if not self.real else "▲" if self.value > 0 else "▼"


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of all contenders."""

    values: tuple[float, ...]
    errors: tuple[float | None, ...]
    """Standard errors over texts; None where a metric is no sum over texts."""
    verdicts: dict[tuple[int, int], Verdict]
    """Of each pair of contenders by their places: the first minus the second."""

    def against(self, one: int, other: int) -> Verdict | None:
        """How much better one contender is than another; None if it cannot be told."""
        if (one, other) in self.verdicts:
            return self.verdicts[one, other]
        turned = self.verdicts.get((other, one))
        return turned and Verdict(0.0 - turned.value, turned.standard_error, turned.real)

    @property
    def best(self) -> int:
        """The place of the contender with the highest value."""
        return max(range(len(self.values)), key=self.values.__getitem__)

    @property
    def as_good(self) -> list[int]:
        """The contenders whose distance from the best may be chance."""
        against = [(place, self.against(self.best, place)) for place in range(len(self.values)) if place != self.best]
        return [place for place, verdict in against if verdict is not None and not verdict.real]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All figures of a field, as fractions."""

    field: Field
    metrics: dict[str, Line]
    bands: dict[str, Line]
    """Of each band of label frequency, the share of its true labels found; empty if no model tells frequencies."""
    shares: dict[str, dict[str, float]]
    """Of each band, its share of the `labels` that occur and of the `pairs` of text and label."""
    propensity: Propensity | None

    @property
    def names(self) -> list[str]:
        """The contenders."""
        return [one.name for one in self.field.contenders]

    def remarks(self) -> list[str]:
        """What makes these figures less than they seem."""
        shares: dict[str, list[str]] = {}
        for one in self.field.contenders:
            if one.seen and one.seen >= FEW_COPIES:
                shares.setdefault(f"{100 * one.seen:.3g} %", []).append(one.name)
        return [
            f"{share} of these texts are among the training texts of {', '.join(names)}; "
            "figures on those show what is remembered, not how well new texts do"
            for share, names in shares.items()
        ] + self._other_texts()

    def _other_texts(self) -> list[str]:
        models = {one.name: one.model for one in self.field.contenders if one.model is not None}
        counts = {name: model.training["texts"] for name, model in models.items()}
        if len(set(counts.values())) < 2:
            return []
        told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        return [f"the models learned from different numbers of texts ({told})"]

    def flat(self) -> dict[str, Any]:
        """The same for programs, as plain lists and tables."""
        names = self.names
        return {
            "texts": len(self.field.dataset),
            "contenders": [
                {"name": one.name, "path": str(one.path), "kind": one.predictions.kind, "seen_in_training": one.seen}
                | {"cost": asdict(one.cost)}
                for one in self.field.contenders
            ],
            "metrics": {metric: _flat(line, names) for metric, line in self.metrics.items()},
            "bands": {
                band: self.shares[band] | {f"found@{BAND_CUT}": _flat(line, names)} for band, line in self.bands.items()
            },
            "propensity": None if self.propensity is None else asdict(self.propensity),
        }


def compare(field: Field, metrics: Sequence[str] | None = None, benchmark: str | None = None) -> Comparison:
    """Measure all contenders of a field by the same metrics."""
    frequency, model = field.frequency, field.reference
    if benchmark is not None and model is None:
        raise ConfigError(f"benchmark is '{benchmark}', but without a model the training texts are not known")
    weights: dict[str, Any] = {}
    if model is not None:
        a, b = propensity_constants(benchmark)
        weights = {"frequency": frequency, "propensity": Propensity(a=a, b=b, train_texts=model.training["texts"])}
    asked = tuple(metrics or (DEFAULT if model is None else (*DEFAULT, *PROPENSITY_SCORED)))
    by_text = [name for name in asked if parse(name).by_text]
    truth, lists = field.dataset.labels, [one.predictions for one in field.contenders]
    spreads = [spread(one, truth, by_text, **weights) for one in lists]
    values = [evaluate(one, truth, asked, **weights) for one in lists]
    lines = {
        name: _line([one[name] for one in spreads]) if name in by_text else _bare([one[name] for one in values])
        for name in asked
    }
    if frequency is None:
        return Comparison(field, lines, {}, {}, None)
    found = [spread_of_bands(one, truth, BAND_CUT, frequency=frequency) for one in lists]
    shares = breakdown(lists[0], truth, [f"p@{BAND_CUT}"], frequency=frequency)
    kept = [band for band, share in shares.items() if share["pairs"]]
    return Comparison(
        field,
        lines,
        {band: _line([one[band] for one in found]) for band in kept},
        {band: {name: shares[band][name] for name in ("labels", "pairs")} for band in kept},
        weights["propensity"],
    )


def _line(spreads: Sequence[Spread]) -> Line:
    pairs = list(combinations(range(len(spreads)), 2))
    differences = [spreads[one].minus(spreads[other]) for one, other in pairs]
    real = holm([difference.p_value for difference in differences])
    verdicts = {
        pair: Verdict(*difference, sure) for pair, difference, sure in zip(pairs, differences, real, strict=True)
    }
    return Line(tuple(one.value for one in spreads), tuple(one.standard_error for one in spreads), verdicts)


def _bare(values: Sequence[float]) -> Line:
    return Line(tuple(values), (None,) * len(values), {})


def _flat(line: Line, names: Sequence[str]) -> Mapping[str, Any]:
    return {
        "values": dict(zip(names, line.values, strict=True)),
        "standard_errors": {name: _finite(error) for name, error in zip(names, line.errors, strict=True)},
        "differences": [
            {
                "first": names[one],
                "second": names[other],
                "value": verdict.value,
                "standard_error": _finite(verdict.standard_error),
                "real": verdict.real,
            }
            for (one, other), verdict in line.verdicts.items()
        ],
    }


def _finite(number: float | None) -> float | None:
    """JSON has no NaN."""
    return number if number is not None and isfinite(number) else None
