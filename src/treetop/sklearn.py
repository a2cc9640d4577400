"""A classifier in scikit-learn's manner around every method: for its pipelines, searches and scores (extra `sklearn`).

    from treetop.sklearn import TreetopClassifier

    model = TreetopClassifier(trees=3, tree__max_leaf=50).fit(texts, label_names_of_each)
    model.predict(more_texts)  # sparse: 1 where (text, label) is suggested

Settings are those of the method, by the names that `get_params` lists. Everything that has a column per label is a
sparse matrix, as there may be millions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from treetop.data import Corpus, Dataset, LabelSpace
from treetop.data.tagged import as_corpus
from treetop.errors import ConfigError, DataError, MissingExtraError
from treetop.methods import METHODS, Method, method_class
from treetop.predictions import Predictions
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.types import CSR, Ids

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise MissingExtraError("scikit-learn 1.6 or later", "sklearn") from None

__all__ = ["TreetopClassifier"]

_DEPTH = 100  # labels of a text whose scores are given; the rest would fill memory and be of no use


class TreetopClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any method of treetop as a scikit-learn classifier.

    `X` is texts (a list, an array, a column), or a matrix of features if the method is a linear one. `y` is the label
    names of each text, a 0/1 matrix, dense or sparse, with a column per label, or one class per text.

    `predict` suggests for each text its `k` best labels, or those that score at least `threshold`, or if both are given
    at most k that do; if neither is, as many as a training text has on average. With one class per text it is that
    class. `seed`, `threads` and `device` are those of the runtime. All other arguments are settings of the method:
    values, tables, or long names such as `tree__max_leaf`.
    """

    def __init__(
        self,
        method: str = "xr-linear",
        *,
        preset: str | None = None,
        k: int | None = None,
        threshold: float | None = None,
        seed: int = 0,
        threads: int = 0,
        device: str = "cpu",
        **settings: Any,
    ) -> None:
        self.method = method
        self.preset = preset
        self.k = k
        self.threshold = threshold
        self.seed = seed
        self.threads = threads
        self.device = device
        for name, value in settings.items():  # each an attribute, as scikit-learn wants parameters to be
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; if `deep`, with all settings that the method has and their values."""
        own: dict[str, Any] = super().get_params(deep=False) | self._settings()
        if not deep:
            return own
        return {name: value for name, value in self._unfitted().get_params().items() if "runtime" not in name} | own

    def set_params(self, **params: Any) -> TreetopClassifier:
        """Change parameters, those of the method among them; an unknown name is refused at once."""
        before = self.get_params(deep=False)
        kept = {old: value for old, value in before.items() if old.partition("__")[0] not in params}
        changed = type(self)(**kept | params)
        _check_names(params, changed)
        for name in before:
            delattr(self, name)
        self.__dict__.update(changed.__dict__)
        return self

    def fit(self, X: Any, y: Any) -> TreetopClassifier:
        """Learn from texts, or features, and their labels."""
        if y is None:
            raise DataError("requires y to be passed, but the target y is None")
        corpus = self._corpus(X, first=True)
        labels, self.classes_, self.one_class_per_text_ = _targets(y)
        if labels.shape[0] != len(corpus):
            raise DataError(f"there are {len(corpus)} texts and labels for {labels.shape[0]}; give one for each")
        names = [str(name) for name in self.classes_.tolist()]
        self.model_: Method[Any] = self._unfitted().fit(Dataset(corpus, labels, LabelSpace(names)))
        self.labels_per_text_ = max(1, round(labels.nnz / max(1, labels.shape[0])))
        return self

    def predict(self, X: Any) -> Any:
        """A sparse matrix, texts × `classes_`, with 1 where a label is suggested; one class per text if trained so."""
        check_is_fitted(self)
        if self.one_class_per_text_:
            return self.classes_[self._ranked(X, 1).labels[:, 0]]
        default = self.labels_per_text_ if self.threshold is None else _DEPTH
        found = self._ranked(X, default if self.k is None else self.k)
        kept = found.labels >= 0
        if self.threshold is not None:
            kept &= found.scores >= self.threshold
        return self._matrix(found, np.ones(found.labels.shape, np.int64), kept)

    def decision_function(self, X: Any) -> CSR:
        """The scores of each text's 100 best labels, sparse: texts × `classes_`. What is not stored scored lower."""
        check_is_fitted(self)
        found = self._ranked(X, _DEPTH)
        return self._matrix(found, found.scores, found.labels >= 0)

    def predict_proba(self, X: Any) -> CSR:
        """The same between 0 and 1: margins through a sigmoid, other scores as they are. They are not calibrated."""
        check_is_fitted(self)
        found = self._ranked(X, _DEPTH)
        scores = 1 / (1 + np.exp(-found.scores)) if found.kind == "margin" else np.clip(found.scores, 0, 1)
        return self._matrix(found, scores, found.labels >= 0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Precision at 1: the share of texts whose best label is right. With one class per text that is accuracy."""
        check_is_fitted(self)
        best = self._ranked(X, 1).labels[:, 0]
        right = _right(y, best, self.classes_)
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        """Texts or matrices in; several labels, or one, out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _settings(self) -> dict[str, Any]:
        """What was given for the method, by name; names that end in _ are of what was learned."""
        named = super().get_params(deep=False)
        others = {name: value for name, value in vars(self).items() if name not in named}
        return {name: value for name, value in others.items() if name[0] != "_" != name[-1]}

    def _unfitted(self) -> Method[Any]:
        runtime = Runtime(seed=self.seed, threads=self.threads, device=self.device)
        return method_class(self.method)(preset=self.preset, runtime=runtime, **self._settings())

    def _corpus(self, X: Any, *, first: bool = False) -> Corpus:
        """Texts as they are, and anything else as features, which scikit-learn checks."""
        texts = _texts(X)
        if texts is not None:
            return as_corpus(texts)
        return Corpus([], canonical(validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=first)))

    def _ranked(self, X: Any, k: int) -> Predictions:
        return self.model_.predict(self._corpus(X), k)

    def _matrix(self, found: Predictions, values: NDArray[Any], kept: NDArray[np.bool_]) -> CSR:
        """The kept entries as a sparse matrix, stored zeros among them."""
        columns, starts = found.labels[kept], np.append(0, np.cumsum(kept.sum(1)))
        matrix = sp.csr_array((values[kept], columns, starts), shape=(len(found), len(self.classes_)))
        matrix.sort_indices()
        return matrix


def _check_names(params: Mapping[str, Any], changed: TreetopClassifier) -> None:
    """Refuse a parameter that the classifier and its method do not have; values are looked at in `fit`."""
    if not isinstance(changed.method, str) or changed.method not in METHODS:
        return
    known = list(type(changed)(changed.method).get_params())
    for name in params.keys() - known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else "get_params() lists all that there are"
        raise ConfigError(f"'{name}' is not a parameter of {type(changed).__name__}; {hint}")


def _texts(X: Any) -> list[Any] | None:
    """The texts, if that is what is given: in one dimension, or as the only column of a table."""
    if sp.issparse(X) or isinstance(X, str):
        return None
    column = np.asarray(X, object).ravel() if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1 else X
    rows = list(column) if isinstance(column, Iterable) else []
    return rows if rows and any(isinstance(row, str) for row in rows) else None


def _targets(y: Any) -> tuple[CSR, NDArray[Any], bool]:
    """The label matrix, what its columns stand for, and whether every text has exactly one class."""
    if sp.issparse(y) or (getattr(y, "ndim", 1) == 2 and y.shape[1] > 1):
        check_classification_targets(y)
        labels = canonical(y)
        return labels, np.arange(labels.shape[1]), False
    rows = _names(y)
    if rows is not None:
        space = LabelSpace(sorted({name for row in rows for name in row}))
        return space.encode(rows), np.asarray(space.names, object), False
    values = column_or_1d(y, warn=True)
    check_classification_targets(values)
    classes, numbers = np.unique(values, return_inverse=True)
    each = np.arange(len(numbers) + 1)
    return canonical(sp.csr_array((np.ones(len(numbers), np.float32), numbers, each))), classes, True


def _names(y: Any) -> list[list[str]] | None:
    """The label names of each text, if that is what is given."""
    rows = list(y) if isinstance(y, Iterable) and getattr(y, "ndim", 1) == 1 else []
    if not rows or not isinstance(rows[0], list | tuple | set | frozenset | np.ndarray):
        return None
    return [[str(name) for name in row] for row in rows]


def _right(y: Any, best: Ids, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether the best label of each text is a true one."""
    known = best >= 0
    if sp.issparse(y) or (getattr(y, "ndim", 1) == 2 and y.shape[1] > 1):
        return np.asarray(canonical(y)[np.arange(len(best)), best] > 0).ravel() & known
    chosen = classes[best]
    rows = _names(y)
    if rows is not None:
        return np.array([name in row for name, row in zip(chosen, rows, strict=True)], bool) & known
    return np.asarray(chosen == column_or_1d(y), bool) & known
