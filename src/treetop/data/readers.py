"""Files and folders in, datasets out: `read` and `splits`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from treetop.data.dataset import Corpus, Dataset, LabelRows, LabelSpace
from treetop.data.fields import Fields
from treetop.data.jsonl import read_jsonl
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["read", "splits"]

ALIASES = {
    "train": ("train", "trn", "training"),
    "dev": ("dev", "valid", "validation", "val"),
    "test": ("test", "tst"),
}
"""Every name under which a split is found, by the name that `splits` lists."""

_JSONL = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".ndjson", ".ndjson.gz")


def read(
    path: str | PathLike[str],
    *,
    split: str = "train",
    space: LabelSpace | None = None,
    text: str = "text",
    labels: str = "labels",
    weights: str | None = None,
    separator: str | None = None,
    runtime: Runtime | None = None,
) -> Dataset:
    """The dataset of one split of a folder, or of one file."""
    where = Path(path)
    source = _sources(where)[_canonical(split)] if where.is_dir() else where
    fields = Fields(text=text, labels=labels, weights=weights, separator=separator)
    rows = LabelRows(space)
    texts = read_jsonl(source, fields, rows, runtime)
    if not texts:
        raise DataError("the file is empty; expected at least one text with labels", path=source)
    if not rows.count:
        raise DataError(f"none of the {len(texts)} texts has a label; check the field {labels!r}", path=source)
    matrix, found = rows.finish()
    return Dataset(Corpus(texts), matrix, found)


def splits(path: str | PathLike[str]) -> tuple[str, ...]:
    """The splits that a folder holds."""
    return tuple(_sources(Path(path)))


def _canonical(split: str) -> str:
    return next((name for name, aliases in ALIASES.items() if split in aliases), split)


def _sources(folder: Path) -> dict[str, Path]:
    found = {}
    for name, aliases in ALIASES.items():
        files = [folder / (alias + suffix) for alias in aliases for suffix in _JSONL]
        if there := [file for file in files if file.is_file()]:
            found[name] = there[0]
    return found
