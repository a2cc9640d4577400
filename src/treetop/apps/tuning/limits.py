"""What a model may cost: settings above a limit are not chosen, however good they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from treetop.apps.tuning.trial import Trial
from treetop.errors import ConfigError

__all__ = ["Limits"]

_UNITS = {"weights": "weights", "megabytes": "MB", "cpu_seconds": "CPU-seconds", "milliseconds": "ms for a text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that each may be; None where it does not matter."""

    weights: float | None = None
    megabytes: float | None = None
    """Of the model folder."""
    cpu_seconds: float | None = None
    """Of the training."""
    milliseconds: float | None = None
    """From one text to its labels, on one thread."""

    def __post_init__(self) -> None:
        for name, most in self.asked.items():
            if not most > 0:
                raise ConfigError(f"the limit of {most:g} {_UNITS[name]} leaves no model; give more than none")

    @property
    def asked(self) -> dict[str, float]:
        """Those that matter."""
        return {name: most for name, most in asdict(self).items() if most is not None}

    def scaled(self, share: float) -> Limits:
        """For trials on this share of the texts that the model will learn from: all but the time of one text grows."""
        grown = {name: most * share for name, most in self.asked.items() if name != "milliseconds"}
        return Limits(**(self.asked | grown))

    def excess(self, trial: Trial) -> float:
        """How many times its limit the cost is that is furthest above it; at most 1 if all are kept."""
        return max((getattr(trial, name) / most for name, most in self.asked.items()), default=0.0)

    def __str__(self) -> str:
        return ", ".join(f"{most:,.6g} {_UNITS[name]}" for name, most in self.asked.items())
