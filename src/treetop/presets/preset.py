"""What a preset is: settings that go together, with their source and what was published with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Member", "Preset", "Published", "Three"]

Three = tuple[float, float, float]
"""A metric at 1, 3 and 5, in per cent."""


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a paper's table of results."""

    models: str
    """What was measured: one model or an ensemble, with tf-idf or without."""
    precision: Three
    """P@1, P@3 and P@5 on the dataset's test split."""
    source: str
    """The table."""
    psp: Three | None = None
    """PSP@1, PSP@3 and PSP@5, if they were published."""
    hours: float | None = None
    """Training time of all models together, if it was published."""
    hardware: str = ""
    """What it was measured on."""


@dataclass(frozen=True, slots=True)
class Member:
    """One model of a published ensemble: the preset, and what is its own."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings that go together."""

    name: str
    method: str
    summary: str
    """What it is good for, in one line."""
    source: str
    """Where the numbers are from."""
    values: dict[str, Any]
    """As in a TOML file; what is not named keeps its default."""
    dataset: str | None = None
    """The public benchmark that the numbers are for (see `presets.datasets`), if they are for one."""
    published: tuple[Published, ...] = ()
    """What the authors measured with these settings on that dataset."""
    members: tuple[Member, ...] = ()
    """The models of their ensemble; the first is the preset itself."""
    fuser: str = "average"
    """How the rankings of these are made one (see `predictions.fuse`)."""
