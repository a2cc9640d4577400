"""The classifier behaves as scikit-learn wants classifiers to, but for what is sparse."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MultiLabelBinarizer
from sklearn.utils.estimator_checks import check_estimator

from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.labels import TreeConfig
from treetop.methods.xr_linear import XRLinear
from treetop.sklearn import TreetopClassifier

SPARSE = "what has a column per label is sparse, as there may be millions of labels"
EXPECTED = {
    "check_classifiers_classes": f"compares decision_function as an array; {SPARSE}",
    "check_classifiers_train": f"wants decision_function of two classes as a vector; {SPARSE}",
    "check_classifiers_multilabel_representation_invariance": f"subtracts predictions from zero; {SPARSE}",
    "check_classifiers_multilabel_output_format_predict": SPARSE,
    "check_classifiers_multilabel_output_format_predict_proba": SPARSE,
    "check_classifiers_multilabel_output_format_decision_function": SPARSE,
    "check_decision_proba_consistency": f"rounds a column of decision_function; {SPARSE}",
}


@pytest.mark.parametrize("method", ["xr-linear", "one-vs-all"])
@pytest.mark.filterwarnings("ignore")
def test_what_scikit_learn_asks_of_an_estimator(method: str) -> None:
    results = check_estimator(
        TreetopClassifier(method, threads=1), expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
    )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == EXPECTED.keys()


@pytest.fixture(scope="module")
def names(toy_train: Dataset) -> list[list[str]]:
    known, labels = toy_train.space.names, toy_train.labels
    return [[known[i] for i in labels[[row]].indices.tolist()] for row in range(len(toy_train))]


@pytest.fixture(scope="module")
def texts(toy_train: Dataset) -> list[str]:
    return list(toy_train.corpus.texts)


@pytest.fixture(scope="module")
def fitted(texts: list[str], names: list[list[str]]) -> TreetopClassifier:
    return TreetopClassifier(tree__max_leaf=8, threads=1).fit(texts, names)


def test_it_is_the_method_with_these_settings(
    fitted: TreetopClassifier, texts: list[str], names: list[list[str]]
) -> None:
    model = XRLinear(tree={"max_leaf": 8}).fit(texts, names)
    assert fitted.model_.config == model.config
    assert list(fitted.classes_) == list(model.space.names)
    found = model.predict(texts, k=fitted.labels_per_text_)
    wanted = np.zeros((len(texts), len(model.space)), int)
    np.put_along_axis(wanted, found.labels.astype(np.int64), 1, axis=1)
    np.testing.assert_array_equal(fitted.predict(texts).toarray(), wanted)
    assert fitted.labels_per_text_ == 2


def test_names_a_matrix_and_a_sparse_one_are_the_same(
    fitted: TreetopClassifier, texts: list[str], names: list[list[str]]
) -> None:
    matrix = MultiLabelBinarizer().fit_transform(names)
    tuples = np.array([*map(tuple, names), ()], object)[:-1]
    for y in (matrix, sp.csr_matrix(matrix), [set(row) for row in names], tuples):
        other = TreetopClassifier(tree__max_leaf=8, threads=1).fit(texts, y)
        np.testing.assert_array_equal(other.predict(texts).toarray(), fitted.predict(texts).toarray())
        assert other.score(texts, y) == fitted.score(texts, names) > 0.9


def test_k_and_threshold(fitted: TreetopClassifier, texts: list[str]) -> None:
    scores = fitted.decision_function(texts).toarray()
    assert clone_with(fitted, k=3).predict(texts).sum(1).tolist() == [3] * len(texts)
    np.testing.assert_array_equal(clone_with(fitted, threshold=0.3).predict(texts).toarray() > 0, scores >= 0.3)
    both = clone_with(fitted, threshold=0.3, k=1).predict(texts)
    np.testing.assert_array_equal(np.asarray(both.sum(1)).ravel(), scores.max(1) >= 0.3)


def clone_with(fitted: TreetopClassifier, **changes: Any) -> TreetopClassifier:
    """The same model with other ways to cut its rankings."""
    other: TreetopClassifier = clone(fitted).set_params(**changes)
    for name in ("model_", "classes_", "labels_per_text_", "one_class_per_text_"):
        setattr(other, name, getattr(fitted, name))
    return other


def test_scores_and_probabilities_rank_alike(texts: list[str], names: list[list[str]]) -> None:
    model = TreetopClassifier("one-vs-all", threads=1).fit(texts, names)
    scores, shares = model.decision_function(texts[:9]).toarray(), model.predict_proba(texts[:9]).toarray()
    assert scores.min() < 0
    assert (shares >= 0).all()
    assert (shares <= 1).all()
    assert sp.issparse(model.predict_proba(texts))


def test_one_class_per_text() -> None:
    texts, y = ["red apple", "green apple", "heavy rain", "rain and wind"] * 3, ["fruit", "fruit", "sky", "sky"] * 3
    model = TreetopClassifier().fit(texts, y)
    assert model.predict(["apple", "rain"]).tolist() == ["fruit", "sky"]
    assert model.score(texts, y) == 1.0
    assert TreetopClassifier().fit(texts, np.array([3, 3, 7, 7] * 3)).predict(["rain"]).tolist() == [7]
    assert cross_val_score(TreetopClassifier(threads=1), texts, y, cv=3).mean() == 1.0


def test_grid_search_in_a_pipeline(texts: list[str], names: list[list[str]]) -> None:
    matrix = MultiLabelBinarizer(sparse_output=True).fit_transform(names)
    clean = FunctionTransformer(lambda rows: [row.lower() for row in rows])
    steps = [("clean", clean), ("m", TreetopClassifier(threads=1))]
    grid = {"m__tree__max_leaf": [2, 50], "m__linear__search__beam": np.array([1, 10])}
    search = GridSearchCV(Pipeline(steps), grid, cv=2, scoring="f1_micro").fit(texts, matrix)
    assert search.best_params_.keys() == grid.keys()
    assert search.best_score_ > 0.7
    assert search.best_estimator_["m"].model_.config.tree.max_leaf == search.best_params_["m__tree__max_leaf"]
    assert f1_score(matrix, search.predict(texts), average="micro") > 0.7


def test_cross_validation_with_names(texts: list[str], names: list[list[str]]) -> None:
    assert cross_val_score(TreetopClassifier(threads=1), texts, names, cv=KFold(3)).min() > 0.9


def test_features_instead_of_texts(texts: list[str], names: list[list[str]]) -> None:
    model = make_pipeline(TfidfVectorizer(), TreetopClassifier(threads=1)).fit(texts, names)
    assert model.score(texts, names) > 0.9
    with pytest.raises(DataError, match="trained on ready-made features"):
        model[-1].predict(["a text"])


def test_a_column_of_a_table(texts: list[str], names: list[list[str]], fitted: TreetopClassifier) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": texts, "names": names})
    for X in (table["text"], table[["text"]], np.array(texts), np.array(texts)[:, None]):
        found = TreetopClassifier(tree__max_leaf=8, threads=1).fit(X, table["names"]).predict(X)
        np.testing.assert_array_equal(found.toarray(), fitted.predict(texts).toarray())


def test_parameters(fitted: TreetopClassifier) -> None:
    copy = clone(fitted)
    assert is_classifier(copy)
    assert copy.get_params(deep=False) == fitted.get_params(deep=False)
    assert copy.get_params()["tree__max_leaf"] == 8
    assert copy.get_params()["linear__search__beam"] == 10
    assert "tree__max_leaf=8" in repr(copy)
    copy.set_params(tree=TreeConfig(max_leaf=3))  # what was said of its inside before no longer holds
    assert copy.fit(["red apple", "heavy rain"], [["x"], ["y"]]).model_.config.tree.max_leaf == 3
    with pytest.raises(ConfigError, match=r"'tree__max_lef' is not a parameter .* did you mean 'tree__max_leaf'"):
        copy.set_params(tree__max_lef=3)
    with pytest.raises(ConfigError, match="did you mean 'trees'"):
        TreetopClassifier(treees=3).fit(["a", "b"], [["x"], ["y"]])
    with pytest.raises(ConfigError, match="there is no method 'linear'"):
        TreetopClassifier("linear").fit(["a", "b"], [["x"], ["y"]])
    with pytest.raises(ConfigError, match="unknown option 'tree'"):
        copy.set_params(method="one-vs-all").fit(["red apple", "heavy rain"], [["x"], ["y"]])


@pytest.mark.parametrize(
    ("X", "y", "problem"),
    [
        (["a", "b"], [["x"]], "2 texts and labels for 1"),
        (["a", 7], [["x"], ["y"]], r"text 1 is 7 \(int\), not a string"),
        (["a", "b"], None, "requires y to be passed"),
        (["a", "b"], [[], []], "no text has a label"),
    ],
)
def test_bad_input(X: Any, y: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        TreetopClassifier().fit(X, y)


def test_joblib_and_pickle(fitted: TreetopClassifier, texts: list[str], tmp_path: Any) -> None:
    joblib.dump(fitted, tmp_path / "model.joblib")
    for again in (joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict(texts).toarray(), fitted.predict(texts).toarray())
