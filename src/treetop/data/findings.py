"""What can be said about data at a glance and what looks odd: the line that reading says, and remarks with remedies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treetop.data.dataset import Corpus, Dataset
from treetop.data.markup import looks_marked_up
from treetop.data.sampling import some_of
from treetop.data.tally import MISSING, Tally

__all__ = ["Findings", "survey"]

_SAMPLE = 1000  # texts that are searched for HTML
_NEARLY_ALL = 0.9  # share of the texts
_SOME, _MANY = 0.01, 0.1  # share of the names that hold a separator
_LONG = 100_000  # characters: a book rather than a text
_SEPARATORS = ("|", ";", ",", "\n")
_FEW = 20  # texts or labels: too few to call anything odd


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Figures of a dataset, and remarks: each says what looks odd and what to do about it. `str` gives one line."""

    source: str
    texts: int
    labels: int
    true: int
    """True (text, label) pairs."""
    split: str
    """How labels in one string were told apart."""
    encoding: str
    unlabelled: int
    """Texts without any label."""
    empty: int
    """Texts of white space alone."""
    duplicates: int
    """Texts that an earlier row has too, but for case and white space."""
    null_texts: int
    null_labels: int
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        per_text = f"{self.true / max(1, self.texts):.1f} per text"
        facts = [f"{self.texts:,} texts", f"{self.labels:,} labels, {per_text}", self.split, *self._oddities()]
        return f"{self.source or 'data'}: " + "; ".join(fact for fact in facts if fact)

    def _oddities(self) -> list[str]:
        counted = {
            "without labels": self.unlabelled,
            "empty": self.empty,
            "duplicates": self.duplicates,
            "null texts": self.null_texts,
        }
        found = [f"{number:,} {what}" for what, number in counted.items() if number]
        return [*found, *([] if self.encoding == "utf-8" else [f"read as {self.encoding}"])]


def survey(dataset: Dataset) -> Findings:
    """Look at a dataset; the digests of its texts take most of the time."""
    corpus, tally = dataset.corpus, dataset.tally
    unique = len(np.unique(corpus.digests))
    return Findings(
        source=tally.source,
        texts=len(dataset),
        labels=len(dataset.space),
        true=int(dataset.labels.nnz),
        split=tally.split,
        encoding="windows-1252" if tally.western else tally.encoding or "utf-8",
        unlabelled=dataset.unlabelled,
        empty=sum(not text or text.isspace() for text in corpus.texts),
        duplicates=len(dataset) - unique,
        null_texts=tally.null_texts,
        null_labels=tally.null_labels + tally.missing_cells,
        remarks=(*_about_reading(tally), *_about_names(dataset), *_about_texts(corpus), *_about_labels(dataset)),
    )


def _about_reading(tally: Tally) -> list[str]:
    remarks = []
    if tally.western:
        remarks.append("the file is not UTF-8 and was read as windows-1252; if letters look wrong, name its encoding")
    if tally.damaged:
        remarks.append(f"{tally.damaged:,} lines have broken characters, which became U+FFFD; were they cut short?")
    if tally.missing_cells:
        remarks.append(f"{tally.missing_cells:,} label cells say NaN, NULL or the like, and count as no labels")
    if tally.null_labels:
        remarks.append(f"{tally.null_labels:,} labels are null or absent, and count as no labels")
    if tally.inseparable:
        first, second = tally.inseparable[0]
        remarks.append(
            f"{first!r} and {second!r} always stand side by side, like {len(tally.inseparable)} such pairs: if names "
            "hold the separator, write labels as lists or between other characters, and name the separator"
        )
    return remarks


def _about_names(dataset: Dataset) -> list[str]:
    remarks = []
    names, index = dataset.space.names, dataset.space.index
    if nothings := sorted(name for name in MISSING if name in index):
        remarks.append(f"there is a label called {nothings[0]!r}; if it stands for nothing, leave it out")
    if dataset.tally.split or dataset.labels.nnz <= len(dataset):  # of lists, those of one name that may be several
        limit = max(1.0, len(names) * (_SOME if dataset.tally.split else _MANY))
        for mark in _SEPARATORS:
            holding = [name for name in names if mark in name]
            if len(holding) > limit:
                held = f"{len(holding):,} label names hold {mark!r}, such as {_shortened(holding[0])}"
                remarks.append(f"{held}; if it separates labels, name it as the separator")
    return remarks


def _about_texts(corpus: Corpus) -> list[str]:
    if not len(corpus.texts):
        return []
    remarks = []
    if corpus.origin:
        choice = "they are taken in place of tf-idf of the texts unless features is set to 'texts' or 'both'"
        remarks.append(f"{corpus.origin} ships features beside the texts; {choice}")
    sample = some_of(corpus.texts, _SAMPLE)
    marked = sum(map(looks_marked_up, sample)) / len(sample)
    if marked > 0.01:
        remarks.append(f"about {100 * marked:.0f} % of the texts hold HTML; strip it (--strip-html, strip_html=True)")
    longest = max(map(len, corpus.texts))
    if longest > _LONG:
        row = next(row for row, text in enumerate(corpus.texts) if len(text) == longest)
        remarks.append(f"text {row + 1:,} has {longest:,} characters; is it one text?")
    return remarks


def _about_labels(dataset: Dataset) -> list[str]:
    remarks = []
    frequency, texts = dataset.frequency, len(dataset)
    if texts >= _FEW and len(dataset.space) > 1:
        top = int(np.argmax(frequency))
        if frequency[top] > _NEARLY_ALL * texts:
            share, name = 100 * frequency[top] / texts, _shortened(dataset.space.names[top])
            remarks.append(f"label {name} is on {share:.0f} % of the texts, so it says little; leave it out?")
    if len(dataset.space) > _FEW and dataset.labels.nnz and frequency.max() == 1:
        remarks.append("every label is on one text only; is this the column of the labels?")
    return remarks


def _shortened(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "…")
