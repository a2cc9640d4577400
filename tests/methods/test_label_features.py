from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treetop.data import Dataset
from treetop.errors import DataError
from treetop.labels import pifa
from treetop.methods.label_features import label_features
from treetop.text import Tfidf, TfidfConfig


def test_texts_of_labels_their_names_or_both(toy_train: Dataset) -> None:
    x = Tfidf(TfidfConfig()).fit_transform(toy_train.corpus.texts)

    def found(kind: Any, data: Dataset = toy_train) -> Any:
        return label_features(kind, x, data, threads=1)

    expected: Any = pifa(x, toy_train.labels)
    np.testing.assert_array_equal(found("pifa").toarray(), expected.toarray())
    assert (found("pifa-plain").toarray() != expected.toarray()).any()
    for kind in ("text", "pifa+text"):
        with pytest.raises(DataError, match="needs label texts"):
            found(kind)
    named = Dataset(toy_train.corpus, toy_train.labels, toy_train.space.with_texts({}))
    assert found("pifa+text", named).shape[1] == x.shape[1] + found("text", named).shape[1]
