"""Which files make up a split: the names under which benchmarks and people store their data.

| files of a split                                                                        | kind         |
|-----------------------------------------------------------------------------------------|--------------|
| `trn.json(.gz)` beside `lbl.json(.gz)`: raw texts of the XMC repository                 | `repository` |
| `train.jsonl`, `.jsonl.gz`, `.json`, `.ndjson`                                          | `jsonl`      |
| `train.parquet`, `train.arrow`, or shards `train-00000-of-00002.parquet`                | `frame`      |
| `train.csv`, `train.tsv` (`.gz`)                                                        | `table`      |
| `train.xlsx`                                                                            | `sheet`      |
| `Y.trn.npz`, `trn_X_Y.npz` or `trn_X_Y.txt`, with features or texts                     | `matrices`   |
| `train_labels.txt` or `Y.trn.txt` with texts                                            | `texts`      |
| `train.txt`, `eurlex_train.txt`, `train.svm`, perhaps with texts; or lines of fastText  | `svmlight`   |

Texts are `train_raw_texts.txt`, `train_texts.txt`, `X.trn.txt` or `trn.raw.txt`; features are `X.trn.npz`,
`tfidf-attnxml/X.trn.npz`, `trn_X_Xf.npz`, `trn_X_Xf.txt`, or those of a file in svmlight form. Raw texts may lie in
`raw_data` or `raw_text`. If a split is there in several forms, the first of the table is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from treetop.data.svmlight import has_header
from treetop.errors import DataError

__all__ = [
    "ALIASES",
    "RECORDS",
    "Source",
    "canonical_split",
    "file_kind",
    "file_source",
    "folder_sources",
    "release_of",
]

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
_SUBFOLDERS = ("tfidf-attnxml", "raw_data", "raw_text")
"""Folders within a release that hold a part of each split."""
_TEXTS = ("{}_raw_texts.txt", "{}_texts.txt", "X.{}.txt", "{}.raw.txt", "raw_data/{}.raw.txt", "raw_text/{}.raw.txt")
_FEATURES = ("X.{}.npz", "tfidf-attnxml/X.{}.npz", "{}_X_Xf.npz", "{}_X_Xf.txt")
_MATRICES = ("Y.{}.npz", "{}_X_Y.npz", "{}_X_Y.txt")
_LABEL_LINES = ("{}_labels.txt", "Y.{}.txt")
_OF_REPOSITORY = (
    "{}.json",
    "{}.json.gz",
    "raw_data/{}.json.gz",
    "raw_data/{}.json",
    "raw_text/{}.json.gz",
    "raw_text/{}.json",
)
_FILTERS = ("filter_labels_{}.txt", "raw_data/filter_labels_{}.txt", "raw_text/filter_labels_{}.txt")
_SHARD = re.compile(r"(?P<stem>.+?)-\d+(-of-\d+)?")


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
    filtered: Path | None = None
    """Pairs of text and label that do not count in an evaluation."""

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
    files = _files_of(folder)
    found = {split: _split_source(files, aliases) for split, aliases in ALIASES.items()}
    return {split: source for split, source in found.items() if source is not None}


def file_source(path: Path) -> Source:
    """The source of a single file; if its name says which split it is, files beside it belong to it."""
    stem, kind = _kind(path.name)
    if path.suffix in (".npz", ".txt") or _is_of_repository(path):
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


def release_of(source: Source) -> str:
    """Whose releases of benchmarks have files like these; empty where anyone may have them."""
    texts, features = source.texts.name if source.texts else "", source.features
    if source.kind == "repository":
        return "the XMC repository (raw texts)"
    if source.kind == "matrices" and "_X_Y" in source.path.name:
        return "the XMC repository (label texts)"
    if source.kind == "matrices" and features is not None and features.suffix == ".npz":
        return "X-Transformer" if "raw" in texts else "PECOS"
    if source.kind == "matrices":
        return "CascadeXML" if "raw" in texts else ""
    if source.kind == "texts":
        return "LightXML" if "raw" in texts else "AttentionXML"
    return "the XMC repository (bags of words)" if source.kind == "svmlight" and has_header(source.path) else ""


def _files_of(folder: Path) -> dict[str, Path]:
    """The files of a folder by their names, those in the usual folders of releases with the folder's name before."""
    files = {file.name: file for file in sorted(folder.iterdir()) if file.is_file()}
    for name in _SUBFOLDERS:
        if (folder / name).is_dir():
            files |= {f"{name}/{file.name}": file for file in sorted((folder / name).iterdir()) if file.is_file()}
    return files


def _split_source(files: dict[str, Path], aliases: Iterable[str]) -> Source | None:
    """The best form in which the split is there."""
    aliases = tuple(aliases)
    filtered = _named(files, _FILTERS, aliases)
    if _named(files, _OF_REPOSITORY, ("lbl",)) and (raw := _named(files, _OF_REPOSITORY, aliases)):
        return Source("repository", (raw,), filtered=filtered)
    for kind in RECORDS:
        if paths := _records(files, aliases, kind):
            return Source(kind, paths)
    texts, bag = _named(files, _TEXTS, aliases), next(_bags(files, aliases), None)
    features = _named(files, _FEATURES, aliases)
    if labels := _named(files, _MATRICES, aliases):
        return Source("matrices", (labels,), texts, features or _headed(bag), filtered=filtered)
    if texts and (labels := _named(files, _LABEL_LINES, aliases)):
        return Source("texts", (labels,), texts, features or _headed(bag))
    return None if bag is None else Source("svmlight", (bag,), texts, filtered=filtered)


def _is_of_repository(path: Path) -> bool:
    return any((path.parent / name).is_file() for name in ("lbl.json", "lbl.json.gz"))


def _headed(bag: Path | None) -> Path | None:
    """A file in svmlight form, if it is one: `train.txt` may hold anything."""
    return bag if bag is not None and has_header(bag) else None


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
    """Files in svmlight form: named after the split (AttentionXML adds v1), or with a prefix, and then a header."""
    aliases = tuple(aliases)
    bags = {stem: file for name, file in files.items() for stem, kind in [_kind(name)] if kind == "svmlight"}
    bags = {stem: file for stem, file in bags.items() if "/" not in stem}
    yield from (bags[stem] for stem in (*aliases, *(f"{alias}_v1" for alias in aliases)) if stem in bags)
    yield from (
        file for stem, file in bags.items() if stem.endswith(tuple(f"_{a}" for a in aliases)) and has_header(file)
    )


@lru_cache(1024)
def _kind(name: str) -> tuple[str, str | None]:
    """The name without its suffix, and the kind the suffix says."""
    bare = name.lower().removesuffix(".gz")
    for kind, suffixes in _SUFFIXES.items():
        for suffix in suffixes:
            if bare.endswith(suffix):
                return bare.removesuffix(suffix), kind
    return bare, None


def _named(files: dict[str, Path], patterns: Iterable[str], aliases: Iterable[str]) -> Path | None:
    """The first of the files that is there; an earlier pattern goes before an earlier alias."""
    names = (pattern.format(alias) for pattern in patterns for alias in aliases)
    return next((files[name] for name in names if name in files), None)


def _files(source: Source) -> set[Path | None]:
    return {*source.paths, source.texts, source.features}
