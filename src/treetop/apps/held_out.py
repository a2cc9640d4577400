"""Texts that a training run keeps aside, so that the figures it prints are those of texts it has not seen."""

from __future__ import annotations

from pathlib import Path

from treetop.data import Dataset, split_by_ratio, splits
from treetop.errors import ConfigError

__all__ = ["held_out", "other_splits"]


def held_out(dataset: Dataset, share: float | None, seed: int) -> tuple[Dataset, Dataset | None]:
    """The texts to learn from and, if a share of them is to be held out, those; copies of a text stay together."""
    return (dataset, None) if share is None else split_by_ratio(dataset, 1 - share, seed)


def other_splits(data: Path, share: float | None) -> tuple[str, ...]:
    """The splits of the data beside the training texts; refuses a share to hold out that cannot be."""
    if share is not None and not 0 < share < 1:
        raise ConfigError(f"--test-share is {share}; give the share of the texts to hold out, between 0 and 1")
    others = tuple(split for split in splits(data) if split != "train")
    if share is not None and "test" in others:
        raise ConfigError(f"{data} has test texts already, which are measured at the end; leave out --test-share")
    return others
