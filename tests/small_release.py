"""A release in small, and what is made of it with a tiny encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shell import write_jsonl
from tiny_methods import encoder
from treetop.apps.reproducing import Order, order
from treetop.data import Dataset
from treetop.presets.registry import preset
from treetop.runtime import Runtime

__all__ = ["TINY", "ordered", "write_release"]

TINY = ("encoder.reader=torch", "encoder.max_tokens=32", "optim.lr=0.003")


def write_release(folder: Path, train: Dataset, test: Dataset) -> Path:
    for split, dataset in (("train", train), ("test", test)):
        write_jsonl(folder / f"{split}.jsonl", dataset)
    return folder


def ordered(name: str, data: Path, **given: Any) -> Order:
    """One preset on a share of the texts."""
    known = preset(name)
    options: dict[str, Any] = {"encoder": encoder().name, "assignments": TINY, "scale": 0.4} | given
    return order(known.method, str(known.dataset), data, runtime=Runtime(threads=1), **options)
