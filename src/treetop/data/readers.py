"""Files, folders and tables in, datasets out: `read` and `splits`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from treetop.data.dataset import Corpus, Dataset, LabelSpace
from treetop.data.encodings import check_encoding
from treetop.data.fasttext import is_fasttext, read_fasttext
from treetop.data.fields import Fields
from treetop.data.filters import read_filter
from treetop.data.given import take_given
from treetop.data.intake import Intake
from treetop.data.jsonl import read_jsonl
from treetop.data.labelfile import label_texts, numbered_space, released_texts
from treetop.data.layout import RECORDS, Source, canonical_split, file_kind, file_source, folder_sources
from treetop.data.lines import Place
from treetop.data.markup import without_markup
from treetop.data.matrices import in_space, stacked, without_zeros
from treetop.data.npz import read_features, read_labels
from treetop.data.repository import check_lines, number_space, repository_fields, repository_labels
from treetop.data.svmlight import has_header, read_rows, read_svmlight
from treetop.data.tables import read_table
from treetop.data.tally import Tally
from treetop.data.textpairs import read_label_lines, read_text_lines, same_length
from treetop.errors import DataError
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.types import CSR

__all__ = ["read", "source_of", "splits"]

_Reader = Callable[[Path, Intake, Runtime | None], None]
_log = logging.getLogger("treetop")


def read(
    source: str | PathLike[str] | Iterable[Any],
    *,
    split: str = "train",
    space: LabelSpace | None = None,
    text: str | Sequence[str] = "text",
    labels: str = "labels",
    weights: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    strip_html: bool = False,
    runtime: Runtime | None = None,
) -> Dataset:
    """The dataset of one split of a folder, or of a single file or table (then `split` does not matter).

    A table is a DataFrame of pandas or polars, a table of pyarrow, a dataset of Hugging Face, or any iterable of
    dictionaries. `text`, `labels` and `weights` name the fields or columns; several `text` columns are joined.
    `separator` stands between labels that are written as one string. `space` fixes the label space: its labels keep
    their columns, and labels it lacks get columns behind them. Without it, the columns are the sorted label names of
    the split, or the numbers of a format that has no names. `encoding` names that of a text file that is not UTF-8,
    `strip_html` removes tags from texts. What was noticed is in `Dataset.findings`. Formats: docs/data.md.
    """
    check_encoding(encoding)
    fields = Fields(text=text, labels=labels, weights=weights, separator=separator)
    intake = Intake(fields, space, Tally(encoding=encoding))
    if isinstance(source, str | PathLike):
        files = source_of(Path(fspath(source)), split)
        intake.tally.source = files.path.name
        with Place(files.path):
            dataset = _read_files(files, intake, runtime)
    else:
        files = None
        intake.tally.source = take_given(source, split, intake)
        dataset = _finished(intake)
    _check_filled(dataset, intake.tally.source if files is None else files.path)
    dataset = _stripped(dataset) if strip_html else dataset
    if _log.isEnabledFor(logging.INFO):
        _log.info("%s", dataset.findings)
    return dataset


def splits(path: str | PathLike[str]) -> tuple[str, ...]:
    """The splits that a folder holds, of `train`, `dev` and `test`; a single file is `train`."""
    with Place(Path(path)):
        where = _existing(Path(path))
        if where.is_dir():
            return tuple(folder_sources(where))
        file_source(where)  # refuses a file that cannot be read
        return ("train",)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise DataError("no such file or folder; check the path", path=path)
    return path


def source_of(path: Path, split: str) -> Source:
    """The files of one split of a folder, or of a single file."""
    with Place(path):
        if not _existing(path).is_dir():
            return file_source(path)
        sources = folder_sources(path)
    name = canonical_split(split)
    if name not in sources:
        there = ", ".join(sources) or "none"
        raise DataError(f"no split {split!r} in this folder; there are: {there}; {_way_out(path)}", path=path)
    return sources[name]


def _way_out(folder: Path) -> str:
    """What to do about a folder without the split that is asked for."""
    files = [file.name for file in sorted(folder.iterdir()) if file.is_file() and file_kind(file) in RECORDS]
    if not files:
        return "put train.csv, train.jsonl, … there (docs/data.md has all names), or name a file"
    return f"name one of its files, such as {files[0]}, or give it the name of the split"


def _read_files(source: Source, intake: Intake, runtime: Runtime | None) -> Dataset:
    kind = "fasttext" if source.kind == "svmlight" and is_fasttext(source.path) else source.kind
    if kind in (*RECORDS, "fasttext"):
        read_file = _record_reader(kind)
        for path in source.paths:
            read_file(path, intake, runtime)
        dataset = _finished(intake)
        return replace(dataset, space=_described(dataset.space, source, intake.rows.space))
    read_these = {"texts": _read_texts, "repository": _read_repository}.get(kind, _read_matrices)
    return replace(read_these(source, intake, runtime), tally=intake.tally)


def _finished(intake: Intake) -> Dataset:
    labels, space = intake.rows.finish()
    return Dataset(Corpus(intake.texts), labels, space, intake.tally)


def _check_filled(dataset: Dataset, path: Path | str) -> None:
    if not len(dataset):
        raise DataError("there is no text in it; expected at least one with labels", path=path)
    if not _holds_texts(dataset.corpus):
        problem = f"all of the {len(dataset)} texts are empty"
        raise DataError(f"{problem}; check which field or column has them", path=path)
    if not dataset.labels.nnz:
        problem = f"none of the {len(dataset)} texts has a label"
        raise DataError(f"{problem}; check which field or column has them", path=path)


def _holds_texts(corpus: Corpus) -> bool:
    return corpus.features is not None or any(text and not text.isspace() for text in corpus.texts)


def _stripped(dataset: Dataset) -> Dataset:
    corpus = replace(dataset.corpus, texts=[without_markup(text) for text in dataset.corpus.texts])
    return replace(dataset, corpus=corpus)


def _record_reader(kind: str) -> _Reader:
    if kind in ("frame", "sheet"):  # polars is loaded only for what needs it
        from treetop.data.frames import read_frames

        return read_frames
    return {"jsonl": read_jsonl, "fasttext": read_fasttext}.get(kind, read_table)


def _described(found: LabelSpace, source: Source, space: LabelSpace | None) -> LabelSpace:
    """The labels with texts, if a file beside the data has some; texts of a given space stay as they are."""
    texts = label_texts(source.path.parent) if source.described else {}
    if not texts or (space is not None and space.texts is None):
        return found
    own = {} if space is None or space.texts is None else dict(zip(space.names, space.texts, strict=True))
    return found.with_texts({**texts, **own})


def _read_texts(source: Source, intake: Intake, runtime: Runtime | None) -> Dataset:
    """One file of texts and one of label names."""
    assert source.texts is not None
    tally, space = intake.tally, intake.rows.space
    texts = read_text_lines(source.texts, runtime, tally)
    read_label_lines(source.path, intake.fields.separator, intake.rows, runtime, tally)
    labels, found = intake.rows.finish()
    texts, labels = same_length(texts, labels, source.texts, source.path)
    features = _features(source, runtime)
    _check_rows(features, labels, source)
    described = _described(found, source, space)
    if described.texts is None and space is None:
        described = released_texts(found, source.path.parent)
    return Dataset(Corpus(texts, features, _origin(source)), labels, described)


def _read_matrices(source: Source, intake: Intake, runtime: Runtime | None) -> Dataset:
    """Formats whose labels are numbers; a file beside them may give the numbers names."""
    features: CSR | None = None
    if source.kind == "svmlight":
        features, labels = read_svmlight(source.path, runtime)
    else:
        labels = read_labels(source.path) if source.path.suffix == ".npz" else _label_rows(source.path, runtime)
        features = _features(source, runtime)
    texts: list[str] = []
    if source.texts is not None:
        texts = read_text_lines(source.texts, runtime, intake.tally)
        texts, labels = same_length(texts, labels, source.texts, source.path)
    _check_rows(features, labels, source)
    folder = source.path.parent if source.described else None
    return _numbered(
        Corpus(texts, features, _origin(source)), labels, source, intake, lambda both: numbered_space(folder, both)
    )


def _read_repository(source: Source, intake: Intake, runtime: Runtime | None) -> Dataset:
    """Texts with the numbers of their labels, which are lines of a label file."""
    own = repository_labels(source.path)
    plain = Intake(repository_fields(source.path, intake.fields), number_space(own), intake.tally)
    read_jsonl(source.path, plain, runtime)
    labels, found = plain.rows.finish()
    check_lines(found, own, source.path)
    return _numbered(Corpus(plain.texts), labels, source, intake, lambda both: (both, own))


def _numbered(
    corpus: Corpus, labels: CSR, source: Source, intake: Intake, name: Callable[[CSR], tuple[CSR, LabelSpace]]
) -> Dataset:
    """A dataset of labels by their numbers, which `name` gives names; pairs that do not count go the same way."""
    pairs = None if source.filtered is None else read_filter(source.filtered, labels.shape)
    both, own = name(labels if pairs is None else stacked(labels, pairs))
    both, space = in_space(both, own, intake.rows.space)
    if pairs is None:
        return Dataset(corpus, both, space)
    return Dataset(corpus, canonical(both[: len(corpus)]), space, filtered=canonical(both[len(corpus) :]))


def _features(source: Source, runtime: Runtime | None) -> CSR | None:
    """The features that are shipped in a file of their own."""
    path = source.features
    if path is None:
        return None
    if path.suffix == ".npz":
        return read_features(path)
    return read_svmlight(path, runtime)[0] if has_header(path) else read_rows(path, "the features", runtime)


def _label_rows(path: Path, runtime: Runtime | None) -> CSR:
    return without_zeros(read_rows(path, "the labels", runtime))


def _origin(source: Source) -> str:
    """The file that ships the features, if there is one."""
    return source.path.name if source.kind == "svmlight" else "" if source.features is None else source.features.name


def _check_rows(features: CSR | None, labels: CSR, source: Source) -> None:
    """Every row of labels needs a row of features, or a text."""
    if features is None and source.texts is None:
        hint = "expected X.trn.npz (features) or train_raw_texts.txt (texts)"
        raise DataError(f"nothing beside these labels describes the texts; {hint}", path=source.path)
    if features is not None and features.shape[0] != labels.shape[0]:
        there = f"{features.shape[0]} rows of features, but {source.path.name} has {labels.shape[0]} rows of labels"
        raise DataError(f"{there}; both need one row per text", path=source.features or source.texts)
