"""Files and folders in, datasets out: `read` and `splits`."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from treetop.data.dataset import Corpus, Dataset, LabelRows, LabelSpace
from treetop.data.fields import Fields
from treetop.data.jsonl import read_jsonl
from treetop.data.labelfile import label_texts, numbered_space
from treetop.data.layout import Source, canonical_split, file_source, folder_sources
from treetop.data.matrices import in_space
from treetop.data.npz import read_features, read_labels
from treetop.data.svmlight import read_svmlight
from treetop.data.tables import read_table
from treetop.data.textpairs import read_label_lines, read_text_lines, same_length
from treetop.errors import DataError
from treetop.runtime import Runtime
from treetop.types import CSR

__all__ = ["read", "splits"]

_Records = Callable[[Path, Fields, LabelRows, Runtime | None], list[str]]


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
    """The dataset of one split of a folder, or of a single file (then `split` does not matter).

    `text`, `labels` and `weights` name the fields or columns; `separator` stands between labels that are written as one
    string. `space` fixes the label space: its labels keep their columns, and labels it lacks get columns behind them.
    Without it, the columns are the sorted label names of the split, or the numbers of a format that has no names.
    Formats and file names: docs/data.md.
    """
    source = _source(Path(path), split)
    fields = Fields(text=text, labels=labels, weights=weights, separator=separator)
    if source.kind in ("jsonl", "table", "parquet"):
        dataset = _read_records(source, fields, space, runtime)
    elif source.kind == "texts":
        dataset = _read_texts(source, separator, space, runtime)
    else:
        dataset = _read_matrices(source, space, runtime)
    if not len(dataset):
        raise DataError("the file is empty; expected at least one text with labels", path=source.path)
    if not dataset.labels.nnz:
        raise DataError(
            f"none of the {len(dataset)} texts has a label; check which field or column has them", path=source.path
        )
    return dataset


def splits(path: str | PathLike[str]) -> tuple[str, ...]:
    """The splits that a folder holds, of `train`, `dev` and `test`; a single file is `train`."""
    where = _existing(Path(path))
    if where.is_dir():
        return tuple(folder_sources(where))
    file_source(where)  # refuses a file that cannot be read
    return ("train",)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise DataError("no such file or folder; check the path", path=path)
    return path


def _source(path: Path, split: str) -> Source:
    if not _existing(path).is_dir():
        return file_source(path)
    sources = folder_sources(path)
    name = canonical_split(split)
    if name not in sources:
        there = ", ".join(sources) or "none (see docs/data.md for the file names that are understood)"
        raise DataError(f"no split {split!r} in this folder; there are: {there}", path=path)
    return sources[name]


def _read_records(source: Source, fields: Fields, space: LabelSpace | None, runtime: Runtime | None) -> Dataset:
    """Formats that hold a text and its label names in each record."""
    rows = LabelRows(space)
    read_file = _record_reader(source.kind)
    texts = [text for path in source.paths for text in read_file(path, fields, rows, runtime)]
    labels, found = rows.finish()
    return Dataset(Corpus(texts), labels, _described(found, source, space))


def _record_reader(kind: str) -> _Records:
    if kind == "parquet":  # polars is loaded only for what needs it
        from treetop.data.parquet import read_parquet

        return read_parquet
    return read_jsonl if kind == "jsonl" else read_table


def _described(found: LabelSpace, source: Source, space: LabelSpace | None) -> LabelSpace:
    """The labels with texts, if a file beside the data has some; texts of a given space stay as they are."""
    texts = label_texts(source.path.parent) if source.described else {}
    if not texts or (space is not None and space.texts is None):
        return found
    own = {} if space is None or space.texts is None else dict(zip(space.names, space.texts, strict=True))
    return found.with_texts({**texts, **own})


def _read_texts(source: Source, separator: str | None, space: LabelSpace | None, runtime: Runtime | None) -> Dataset:
    """One file of texts and one of label names."""
    assert source.texts is not None
    texts = read_text_lines(source.texts, runtime)
    rows = LabelRows(space)
    read_label_lines(source.path, separator, rows, runtime)
    labels, found = rows.finish()
    texts, labels = same_length(texts, labels, source.texts, source.path)
    features = None if source.features is None else read_features(source.features)
    _check_rows(features, labels, source)
    return Dataset(Corpus(texts, features), labels, _described(found, source, space))


def _read_matrices(source: Source, space: LabelSpace | None, runtime: Runtime | None) -> Dataset:
    """Formats whose labels are numbers; a file beside them may give the numbers names."""
    features: CSR | None = None
    if source.kind == "svmlight":
        features, labels = read_svmlight(source.path, runtime)
    else:
        labels = read_labels(source.path)
        features = None if source.features is None else read_features(source.features)
    texts: list[str] = []
    if source.texts is not None:
        texts, labels = same_length(read_text_lines(source.texts, runtime), labels, source.texts, source.path)
    _check_rows(features, labels, source)
    own = numbered_space(source.path.parent if source.described else None, labels.shape[1])
    labels, found = in_space(labels, own, space)
    return Dataset(Corpus(texts, features), labels, found)


def _check_rows(features: CSR | None, labels: CSR, source: Source) -> None:
    """Every row of labels needs a row of features, or a text."""
    if features is None and source.texts is None:
        hint = "expected X.trn.npz (features) or train_raw_texts.txt (texts)"
        raise DataError(f"nothing beside these labels describes the texts; {hint}", path=source.path)
    if features is not None and features.shape[0] != labels.shape[0]:
        there = f"{features.shape[0]} rows of features, but {source.path.name} has {labels.shape[0]} rows of labels"
        raise DataError(f"{there}; both need one row per text", path=source.features or source.texts)
