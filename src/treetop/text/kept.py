"""Training texts that are kept with a model, to show those that resemble a text and carry a label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.data import Dataset, LabelSpace
from treetop.data.matrices import in_space
from treetop.explanation import Neighbour
from treetop.sparse import canonical, check_rows, from_parts, normalise
from treetop.store import Folder
from treetop.text.occurrences import spans_of
from treetop.text.tfidf import Tfidf, TfidfConfig
from treetop.types import CSR

__all__ = ["NAME", "KeptTexts"]

NAME = "kept"
_TEXTS, _ROWS = "texts.safetensors", "rows.safetensors"
_KINDS: dict[str, type[np.generic]] = {
    "bytes": np.uint8, "ends": np.int64, "row.start": np.int64, "row.column": np.int32, "row.value": np.float32,
    "label.start": np.int64, "label.column": np.int32, "label.value": np.float32,
}  # fmt: skip
_SHARED_WORDS = 8


class KeptTexts:
    """Texts, their tf-idf rows of length one, and their labels; all of it is mapped when a model is loaded."""

    def __init__(self, tfidf: Tfidf, texts: _Strings, rows: CSR, labels: CSR, *, size: int = 0) -> None:
        self.tfidf, self.texts, self.rows, self.labels = tfidf, texts, rows, labels
        self.size = size
        """Bytes on disk, once it was stored."""
        self._by_label: CSR | None = None

    @classmethod
    def of(cls, dataset: Dataset, space: LabelSpace, tfidf: Tfidf | None = None, *, threads: int = 0) -> KeptTexts:
        """The texts of a dataset for a model's labels; without the tf-idf of a model, with one of their own."""
        texts = list(dataset.corpus.texts)
        tfidf = tfidf or Tfidf(TfidfConfig(sublinear_tf=True)).fit(texts, threads=threads)
        rows = normalise(tfidf.transform(texts, threads=threads))
        labels, _ = in_space(dataset.labels, dataset.space, space)
        return cls(tfidf, _Strings.of(texts), rows, canonical(labels[:, : len(space)]))

    def __len__(self) -> int:
        return len(self.texts)

    def nearest(self, text: str, label: int, count: int, space: LabelSpace) -> list[Neighbour]:
        """The texts most like this one that carry a label, most similar first; none that has no word of it."""
        if self._by_label is None:
            self._by_label = canonical(self.labels.T)
        if label >= self._by_label.shape[0]:  # known by its name alone
            return []
        carriers = self._by_label.indices[self._by_label.indptr[label] : self._by_label.indptr[label + 1]]
        row = normalise(self.tfidf.transform([text], threads=1))
        rows = self.rows[carriers]
        alike = np.asarray((rows @ row.T).todense()).ravel()
        best = [at for at in np.argsort(-alike, kind="stable")[:count] if alike[at] > 0]
        shared = self._shared(text, rows[best].multiply(row))
        return [
            self._neighbour(int(carriers[at]), float(alike[at]), words, space)
            for at, words in zip(best, shared, strict=True)
        ]

    def _neighbour(self, number: int, similarity: float, words: tuple[str, ...], space: LabelSpace) -> Neighbour:
        own = self.labels.indices[self.labels.indptr[number] : self.labels.indptr[number + 1]]
        labels = tuple(space.names[label] for label in own.tolist())
        return Neighbour(self.texts[number], labels, similarity, words)

    def _shared(self, text: str, products: Any) -> list[tuple[str, ...]]:
        """Words of a text that are in other texts, too, by the products of their rows; the weightiest first."""
        spans = spans_of(text, self.tfidf.config).tolist()
        words = list({text[start:end].casefold(): text[start:end] for start, end in spans}.values())
        weights = np.asarray((products @ self.tfidf.transform(words, threads=1).T).todense())
        orders = np.argsort(-weights, axis=1, kind="stable")[:, :_SHARED_WORDS]
        return [tuple(words[at] for at in order if own[at] > 0) for own, order in zip(weights, orders, strict=True)]

    def save(self, folder: Folder) -> None:
        """Write it into a folder of its own."""
        self.tfidf.save(folder)
        folder.write_tensors(_TEXTS, self.texts.tensors())
        folder.write_tensors(_ROWS, _tensors("row", self.rows) | _tensors("label", self.labels))
        self.size = size_of(folder.path)

    @classmethod
    def load(cls, folder: Folder, labels: int) -> KeptTexts:
        """Map what `save` wrote for a model of so many labels."""
        texts, arrays = folder.read_tensors(_TEXTS, _KINDS), folder.read_tensors(_ROWS, _KINDS)
        tfidf = Tfidf.load(folder)
        with folder.reading(_TEXTS):
            strings = _Strings(texts["bytes"], texts["ends"]).checked()
        with folder.reading(_ROWS):
            rows = _matrix("row", arrays, (len(strings), tfidf.width))
            return cls(
                tfidf, strings, rows, _matrix("label", arrays, (len(strings), labels)), size=size_of(folder.path)
            )


class _Strings:
    """Many strings in two arrays."""

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._data, self._ends = data, ends

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Strings:
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(parts), np.uint8), ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        start, end = self._ends[number : number + 2]
        content = bytes(self._data[start:end])
        try:
            return content.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:  # damage to one byte; all of them are not looked at when a model is loaded
            return content.decode("utf-8", "replace")

    def checked(self) -> _Strings:
        """The same, if the ends are those of strings in the bytes."""
        ends = self._ends
        if not len(ends) or ends[0] != 0 or ends[-1] != len(self._data) or bool((ends[1:] < ends[:-1]).any()):
            raise ValueError("ends of texts that are not in the file")
        return self

    def tensors(self) -> dict[str, NDArray[Any]]:
        return {"bytes": self._data, "ends": self._ends}


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _tensors(name: str, matrix: CSR) -> dict[str, NDArray[Any]]:
    parts: dict[str, NDArray[Any]] = {
        "start": matrix.indptr.astype(np.int64),
        "column": matrix.indices,
        "value": matrix.data,
    }
    return {f"{name}.{part}": array for part, array in parts.items()}


def _matrix(name: str, arrays: dict[str, NDArray[Any]], shape: tuple[int, int]) -> CSR:
    start, column, value = (arrays[f"{name}.{part}"] for part in ("start", "column", "value"))
    check_rows(start, column, len(value), shape)
    return from_parts(start, column, value, columns=shape[1])
