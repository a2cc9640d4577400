"""Which files make up a split: the names under which benchmarks and people store their data.

| files of a split                                                             | kind       |
|------------------------------------------------------------------------------|------------|
| `train.jsonl`, `.jsonl.gz`, `.json`, `.ndjson`                                 | `jsonl`    |
| `train.parquet`, `train.arrow`, or shards `train-00000-of-00002.parquet`       | `frame`    |
| `train.csv`, `train.tsv` (`.gz`)                                               | `table`    |
| `train.xlsx`                                                                   | `sheet`    |
| `Y.trn.npz` with `X.trn.npz`, `X.trn.txt` or `train_raw_texts.txt`             | `matrices` |
| `train_labels.txt` with `train_raw_texts.txt` or `train_texts.txt`             | `texts`    |
| `train.txt`, `eurlex_train.txt`, `train.svm` (a `train_raw_texts.txt` beside)  | `svmlight` |

If a split is there in several forms, the first of the table is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from treetop.data.svmlight import has_header
from treetop.errors import DataError

__all__ = ["ALIASES", "RECORDS", "Source", "canonical_split", "file_kind", "file_source", "folder_sources"]

ALIASES = {
    "train": ("train", "trn", "training"),
    "dev": ("dev", "valid", "validation", "val"),
    "test": ("test", "tst"),
}
"""Every name under which a split is found, by the name that `splits` lists."""

_SUFFIXES = {
    "jsonl": (".jsonl", ".json", ".ndjson"),
    "frame": (".parquet", ".pq", ".arrow", ".feather", ".ipc"),
    "table": (".csv", ".tsv", ".tab"),
    "sheet": (".xlsx", ".xls", ".xlsb", ".ods"),
    "svmlight": (".svm", ".svmlight", ".libsvm", ".txt"),
}
RECORDS = ("jsonl", "frame", "table", "sheet")
"""Kinds that hold a text and its label names in each record."""
_SHARD = re.compile(r"(?P<stem>.+)-\d+-of-\d+")


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one split: where labels (and mostly all the rest) are, and what lies beside them."""

    kind: str
    paths: tuple[Path, ...]
    """The file with the labels; several if it is cut into shards."""
    texts: Path | None = None
    features: Path | None = None
    described: bool = True
    """Whether a label file in the same folder belongs to it."""

    @property
    def path(self) -> Path:
        """The file to name in messages about the whole split."""
        return self.paths[0]


def canonical_split(name: str) -> str:
    """`train`, `dev` or `test` for any of their aliases."""
    return next((split for split, aliases in ALIASES.items() if name.lower() in aliases), name)


def file_kind(path: Path) -> str | None:
    """What the name of a file says it holds: one of the kinds above (`svmlight`: or any text), or None."""
    return _kind(path.name)[1]


def folder_sources(folder: Path) -> dict[str, Source]:
    """The splits of a folder, in the order train, dev, test."""
    files = {file.name: file for file in sorted(folder.iterdir()) if file.is_file()}
    found = {split: _split_source(files, aliases) for split, aliases in ALIASES.items()}
    return {split: source for split, source in found.items() if source is not None}


def file_source(path: Path) -> Source:
    """The source of a single file; if its name says which split it is, files beside it belong to it."""
    stem, kind = _kind(path.name)
    if path.suffix in (".npz", ".txt"):
        beside = [source for source in folder_sources(path.parent).values() if path in _files(source)]
        if beside:
            return beside[0]
    if path.suffix == ".npz":
        hint = "put features in X.trn.npz and labels in Y.trn.npz, and read their folder"
        raise DataError(f"a matrix alone is no dataset; {hint}", path=path)
    if kind is None:
        known = ", ".join(suffix for suffixes in _SUFFIXES.values() for suffix in suffixes)
        raise DataError(f"unknown file type {path.suffix!r}; supported are {known}, .npz (and .gz of texts)", path=path)
    named = any(stem in aliases for aliases in ALIASES.values())
    return Source(kind, (path,), described=named)


def _split_source(files: dict[str, Path], aliases: Iterable[str]) -> Source | None:
    """The best form in which the split is there."""
    aliases = tuple(aliases)
    texts = _first(files, (pattern.format(a) for pattern in ("{}_raw_texts.txt", "{}_texts.txt") for a in aliases))
    features = _first(files, (f"X.{alias}.npz" for alias in aliases))
    for kind in RECORDS:
        if paths := _records(files, aliases, kind):
            return Source(kind, paths)
    if labels := _first(files, (f"Y.{alias}.npz" for alias in aliases)):
        beside = texts or _first(files, (f"X.{alias}.txt" for alias in aliases))
        return Source("matrices", (labels,), beside, features)
    if texts and (labels := _first(files, (f"{alias}_labels.txt" for alias in aliases))):
        return Source("texts", (labels,), texts, features)
    bag = next(_bags(files, aliases), None)
    return None if bag is None else Source("svmlight", (bag,), texts)


def _records(files: dict[str, Path], aliases: Iterable[str], kind: str) -> tuple[Path, ...]:
    """The file of a split, or its shards in order."""
    for alias in aliases:
        whole = [file for name, file in files.items() if _kind(name) == (alias, kind)]
        if whole:
            return (whole[0],)
        shards = [file for name, file in files.items() if _is_shard(name, alias, kind)]
        if shards:
            return tuple(shards)
    return ()


def _is_shard(name: str, alias: str, kind: str) -> bool:
    stem, found = _kind(name)
    match = _SHARD.fullmatch(stem)
    return found == kind and match is not None and match["stem"] == alias


def _bags(files: dict[str, Path], aliases: Iterable[str]) -> Iterator[Path]:
    """Files in svmlight form: named after the split alone, or with a prefix and the header of the format."""
    aliases = tuple(aliases)
    bags = {stem: file for name, file in files.items() for stem, kind in [_kind(name)] if kind == "svmlight"}
    yield from (bags[alias] for alias in aliases if alias in bags)
    yield from (
        file for stem, file in bags.items() if stem.endswith(tuple(f"_{a}" for a in aliases)) and has_header(file)
    )


def _kind(name: str) -> tuple[str, str | None]:
    """The name without its suffix, and the kind the suffix says."""
    bare = name.lower().removesuffix(".gz")
    for kind, suffixes in _SUFFIXES.items():
        for suffix in suffixes:
            if bare.endswith(suffix):
                return bare.removesuffix(suffix), kind
    return bare, None


def _first(files: dict[str, Path], names: Iterable[str]) -> Path | None:
    return next((files[name] for name in names if name in files), None)


def _files(source: Source) -> set[Path | None]:
    return {*source.paths, source.texts, source.features}
