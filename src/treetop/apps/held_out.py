"""The texts of a training run: those to learn from, and those kept aside so that the figures it prints are honest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from treetop.apps.options import Reading
from treetop.data import Dataset, split_by_ratio, splits
from treetop.errors import ConfigError
from treetop.runtime import Runtime

__all__ = ["Material", "gather", "held_out", "other_splits"]


class Material(NamedTuple):
    """The texts of a training run."""

    whole: Dataset
    """All training texts of the data."""
    train: Dataset
    """Those of them to learn from."""
    test: Dataset | None
    """The others, if a share is held out."""
    dev: Callable[[], Dataset] | None
    """Reads the data's dev texts, if there are any."""
    others: tuple[str, ...]
    """Splits of the data beside the training texts."""


def gather(data: Path, reading: Reading, runtime: Runtime, share: float | None) -> Material:
    """Read the training texts, and hold out a share of them if that is asked for."""
    others = other_splits(data, share)
    whole = reading.read(data, runtime)
    train, test = held_out(whole, share, runtime.seed)
    dev = partial(reading.read, data, runtime, split="dev", space=train.space) if "dev" in others else None
    return Material(whole, train, test, dev, others)


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
