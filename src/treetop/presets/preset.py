"""What a preset is: settings that go together, with their source and what was published with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Preset", "Published"]


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a paper's table of results."""

    models: str
    """What was measured: one model or an ensemble, with tf-idf or without."""
    precision: tuple[float, float, float]
    """P@1, P@3 and P@5 on the dataset's test split, in per cent."""
    source: str
    """The table."""


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
