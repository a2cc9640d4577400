from __future__ import annotations

import numpy as np

from treetop.data import Dataset
from treetop.methods.one_vs_all import OneVsAll


def test_it_solves_the_problem_of_each_label(toy_train: Dataset) -> None:
    """The margins are those of LIBLINEAR's solver, through scikit-learn, up to the tolerance of both."""
    from sklearn.svm import LinearSVC

    model = OneVsAll().fit(toy_train)
    assert model.tfidf is not None
    features = model.tfidf.transform(toy_train.corpus.texts)
    found = model.predict(toy_train, k=len(model.space)).to_csr(len(model.space)).toarray()
    for label in (0, 11, 41):
        truth = toy_train.labels[:, [label]].toarray().ravel()
        judge = LinearSVC(C=1.0, tol=1e-5, max_iter=10_000).fit(features, truth)
        np.testing.assert_allclose(found[:, label], judge.decision_function(features), atol=0.08)


def test_only_sparse_weights_are_kept(toy_train: Dataset) -> None:
    model = OneVsAll().fit(toy_train)
    assert model.tfidf is not None
    values = model.linear.levels[0].arrays["entry_value"]
    kept = values[values != 0]  # A row that nearly all siblings share is stored with zeros for the others.
    assert np.abs(kept).min() >= 0.01
    assert model.describe()["weights"] == len(kept) < model.tfidf.width * len(model.space)
