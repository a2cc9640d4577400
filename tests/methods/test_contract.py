"""What every method promises, checked on each of them."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treetop.config import from_dict, to_dict
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError, DataError, NotFittedError, StoreError
from treetop.labels import TreeConfig
from treetop.linear import LinearTreeConfig
from treetop.methods import METHODS, Method, Predictor, load, method_class
from treetop.methods.ensemble import Ensemble, EnsembleConfig
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.metrics import evaluate, expected_calibration_error
from treetop.predictions import Predictions
from treetop.runtime import Runtime
from treetop.types import CSR


def made_by_default(name: str, runtime: Runtime) -> Method[Any]:
    return method_class(name)(runtime=runtime)


SMALL = TreeConfig(max_leaf=8, branching=4)

MAKERS: dict[str, Callable[[Runtime], Method[Any]]] = {
    "xr-linear": lambda runtime: XRLinear(XRLinearConfig(tree=SMALL), runtime=runtime),
    "xr-linear with matcher-aware negatives": lambda runtime: XRLinear(
        XRLinearConfig(tree=SMALL, linear=LinearTreeConfig(negatives="both", relevance="count")), runtime=runtime
    ),
    "parabel": lambda runtime: XRLinear(XRLinearConfig(tree=SMALL, trees=3), runtime=runtime),
    "bonsai": lambda runtime: XRLinear(
        XRLinearConfig(tree=TreeConfig(kind="kmeans", branching=5), trees=2), runtime=runtime
    ),
    "one-vs-all": lambda runtime: OneVsAll(runtime=runtime),
    "ensemble": lambda runtime: Ensemble(
        [XRLinear(XRLinearConfig(tree=SMALL), runtime=runtime), OneVsAll(runtime=runtime)],
        EnsembleConfig(fuser="rank_average"),
        runtime=runtime,
    ),
}
MAKERS |= {  # a method that nobody has thought of here is held to its promises with its defaults
    record.name: partial(made_by_default, record.name)
    for record in METHODS.values()
    if record.extra is None and record.name not in MAKERS
}
NEURAL = ["lightxml flat", "lightxml with groups"]
NEURAL += [record.name for record in METHODS.values() if record.extra == "neural" and record.name != "lightxml"]
FLOOR = 0.9


def maker(name: str) -> Callable[[Runtime], Method[Any]]:
    """How to make a method; the transformers only if their extra is installed."""
    if name in MAKERS:
        return MAKERS[name]
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import neural_maker

    return neural_maker(name)


@pytest.fixture(scope="module", params=[*MAKERS, *NEURAL])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def make(name: str) -> Callable[[Runtime], Method[Any]]:
    return maker(name)


def assert_same(name: str, one: Predictions, other: Predictions) -> None:
    """Equal to the last bit; for networks, whose sums depend on the shape of a batch, up to rounding."""
    if name not in NEURAL:
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.scores, other.scores)
        return
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
    swapped = one.labels != other.labels  # only what is tied up to rounding may change places
    assert swapped.mean() < 0.02


@pytest.fixture(scope="module")
def fitted(make: Callable[[Runtime], Method[Any]], toy_train: Dataset) -> Method[Any]:
    return make(Runtime(threads=2)).fit(toy_train)


def test_it_learns(fitted: Method[Any], toy_test: Dataset) -> None:
    assert isinstance(fitted, Predictor)
    figures = evaluate(fitted.predict(toy_test, k=5), toy_test.labels, ["p@1", "r@5"])
    assert figures["p@1"] > FLOOR
    assert figures["r@5"] > FLOOR


def test_rankings_are_rankings(fitted: Method[Any], toy_test: Dataset) -> None:
    found = fitted.predict(toy_test, k=8)
    assert found.labels.shape == (len(toy_test), 8)
    assert np.all(np.diff(found.scores, axis=1) <= 0)
    assert np.isfinite(found.scores).all()
    for row in found.labels:
        real = row[row >= 0]
        assert len(set(real.tolist())) == len(real)
    names = {suggestion.label for row in found for suggestion in row}
    assert names <= set(toy_test.space.names)


def test_k_beyond_the_labels(fitted: Method[Any], toy_test: Dataset) -> None:
    found = fitted.predict(toy_test, k=10_000)
    assert found.k <= len(fitted.space)


@pytest.mark.parametrize("k", [0, -3])
def test_k_below_one(fitted: Method[Any], toy_test: Dataset, k: int) -> None:
    with pytest.raises(ConfigError, match="at least one"):
        fitted.predict(toy_test, k=k)


def test_unusual_texts(fitted: Method[Any]) -> None:
    texts = ["", "   ", "unheard", "😀 🎉", "שלום עולם", "topic1 " * 100_000]
    found = fitted.predict(texts, k=3)
    assert len(found) == len(texts)
    assert np.isfinite(found.scores).all()


def test_no_texts_at_all(fitted: Method[Any]) -> None:
    assert len(fitted.predict([], k=3)) == 0


def test_order_and_batches_do_not_matter(name: str, fitted: Method[Any], toy_test: Dataset) -> None:
    texts = toy_test.corpus.texts
    order = np.random.default_rng(0).permutation(len(texts))
    whole = fitted.predict(texts, k=5)
    shuffled = fitted.predict([texts[i] for i in order], k=5)
    assert_same(name, whole.rows(order.astype(np.int32)), shuffled)
    single = fitted.predict([texts[3]], k=5)
    assert_same(name, whole.rows(np.array([3])), single)


def test_same_seed_same_model_on_any_number_of_threads(
    name: str, make: Callable[[Runtime], Method[Any]], fitted: Method[Any], toy_train: Dataset, toy_test: Dataset
) -> None:
    # The rounding of a network's sums depends on the number of threads, so there it has to be the same one.
    again = make(Runtime(threads=2 if name in NEURAL else 1)).fit(toy_train)
    first, second = fitted.predict(toy_test, k=5), again.predict(toy_test, k=5)
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.scores, second.scores)


def test_saved_and_loaded_it_is_the_same(fitted: Method[Any], toy_test: Dataset, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model")  # over an existing one
    loaded = load(tmp_path / "model")
    before, after = fitted.predict(toy_test, k=5), loaded.predict(toy_test, k=5)
    np.testing.assert_array_equal(before.labels, after.labels)
    np.testing.assert_array_equal(before.scores, after.scores)
    assert before[0] == after[0]
    assert loaded.config == fitted.config
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    assert {"wall_seconds", "cpu_seconds", "peak_rss_mib"} <= card["training"].keys()


def test_pickled_and_copied_it_is_the_same(fitted: Method[Any], toy_test: Dataset, tmp_path: Path) -> None:
    before = fitted.predict(toy_test, k=5)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        after = again.predict(toy_test, k=5)
        np.testing.assert_array_equal(before.labels, after.labels)
        np.testing.assert_array_equal(before.scores, after.scores)
        assert (again.config, again.runtime, again.training) == (fitted.config, fitted.runtime, fitted.training)
    again.save(tmp_path / "model")  # with all of its parts
    assert load(tmp_path / "model").predict(toy_test, k=5)[0] == before[0]


def test_a_loaded_model_is_pickled_as_its_folder(fitted: Method[Any], toy_test: Dataset, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    pickled = pickle.dumps(loaded)
    assert len(pickled) < 4000
    assert pickle.loads(pickled).predict(toy_test, k=5)[0] == loaded.predict(toy_test, k=5)[0]
    (tmp_path / "model" / "note.txt").write_text("changed")
    with pytest.raises(StoreError, match="gone or has changed"):
        pickle.loads(pickled)
    whole = pickle.dumps(loaded)
    assert len(whole) > len(pickled)
    shutil.rmtree(tmp_path / "model")
    assert pickle.loads(whole).predict(toy_test, k=5)[0] == fitted.predict(toy_test, k=5)[0]


def test_what_has_learned_nothing_can_be_pickled_too(make: Callable[[Runtime], Method[Any]]) -> None:
    model = make(Runtime(threads=1))
    again = pickle.loads(pickle.dumps(model))
    assert repr(again) == repr(model)
    with pytest.raises(NotFittedError):
        again.predict(["text"])


def test_not_fitted(make: Callable[[Runtime], Method[Any]], tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="fit first"):
        make(Runtime()).predict(["text"])
    with pytest.raises(NotFittedError, match="fit first"):
        make(Runtime()).save(tmp_path / "model")


def test_one_label_only(make: Callable[[Runtime], Method[Any]]) -> None:
    model = make(Runtime()).fit(["apple pie", "apple cake", "rain"], [["fruit"], ["fruit"], []])
    assert model.predict(["apple"], k=3)[0][0].label == "fruit"


def test_a_label_without_texts(make: Callable[[Runtime], Method[Any]], toy_train: Dataset) -> None:
    space = toy_train.space.extended(["never seen"])
    parts = (toy_train.labels.data, toy_train.labels.indices, toy_train.labels.indptr)
    wide = CSR(parts, shape=(len(toy_train), len(space)))
    model = make(Runtime()).fit(Dataset(toy_train.corpus, wide, space))
    best = {row[0].label for row in model.predict(toy_train.corpus.texts[:50], k=1)}
    assert "never seen" not in best


def test_texts_and_names(make: Callable[[Runtime], Method[Any]], toy_train: Dataset, fitted: Method[Any]) -> None:
    names = [
        [toy_train.space.names[i] for i in toy_train.labels[[row]].indices.tolist()] for row in range(len(toy_train))
    ]
    model = make(Runtime()).fit(toy_train.corpus.texts, names)
    probe = toy_train.corpus.texts[:20]
    assert [row[0].label for row in model.predict(probe)] == [row[0].label for row in fitted.predict(probe)]


def test_features_without_texts(name: str, make: Callable[[Runtime], Method[Any]], toy_train: Dataset) -> None:
    features = np.random.default_rng(0).random((len(toy_train), 30)).astype(np.float32)
    features[:, : len(toy_train.space)] += 3 * toy_train.labels[:, :30].toarray()
    from treetop.sparse import canonical

    data = Dataset(Corpus([], canonical(features)), toy_train.labels, toy_train.space)
    if name in NEURAL:
        with pytest.raises(DataError, match="a transformer reads texts"):
            make(Runtime()).fit(data)
        return
    model = make(Runtime()).fit(data)
    assert len(model.predict(Corpus([], canonical(features[:5])), k=2)) == 5
    with pytest.raises(DataError, match="give the features"):
        model.predict(["a text"])


def test_classic_mistakes(make: Callable[[Runtime], Method[Any]], fitted: Method[Any]) -> None:
    with pytest.raises(DataError, match="list of texts"):
        fitted.predict("a single string")
    with pytest.raises(DataError, match="without labels"):
        make(Runtime()).fit(["a text"])
    with pytest.raises(DataError, match="2 texts"):
        make(Runtime()).fit(["a", "b"], [["x"]])
    with pytest.raises(DataError, match="give a list of names"):
        make(Runtime()).fit(["a", "b"], ["x", "y"])
    with pytest.raises(DataError, match="no text has a label"):
        make(Runtime()).fit(["a", "b"], [[], []])
    with pytest.raises(DataError, match="no texts"):
        make(Runtime()).fit([], [])
    with pytest.raises(ConfigError, match=r"k is '3' \(str\); give a whole number"):
        fitted.predict(["a"], k="3")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"text 1 is 7 \(int\), not a string"):
        fitted.predict(["a", 7])
    with pytest.raises(DataError, match=r"treetop\.read\(table"):
        make(Runtime()).fit({"text": ["a"], "labels": [["x"]]})


def test_a_missing_text_is_an_empty_one(name: str, fitted: Method[Any]) -> None:
    assert_same(name, fitted.predict([None, float("nan")], k=3), fitted.predict(["", ""], k=3))


def every_score(fitted: Method[Any], texts: Sequence[str]) -> tuple[Predictions, int | None]:
    """The scores of all labels, from a beam that nothing escapes; and that beam."""
    beam = 1000 if fitted.has_beam else None
    return fitted.predict(texts, k=len(fitted.space), beam=beam), beam


def test_only_some_labels(name: str, fitted: Method[Any], toy_test: Dataset) -> None:
    texts, names = toy_test.corpus.texts[:20], list(fitted.space.names)
    wanted = np.random.default_rng(0).choice(names, 9, replace=False).tolist()
    everything, beam = every_score(fitted, texts)
    few = fitted.predict(texts, k=20, labels=wanted, beam=beam)
    assert few.k == len(wanted)
    for all_found, found in zip(everything, few, strict=True):
        assert {one.label for one in found} == set(wanted)
        if few.kind != "rank":  # a place in a list depends on who else is in it
            scores = dict(all_found)
            assert [one.score for one in found] == pytest.approx([scores[one.label] for one in found], abs=1e-5)
    single = fitted.predict(texts[:1], k=20, labels=wanted, beam=beam)
    assert_same(name, few[:1], single)
    best = fitted.predict(texts, k=2, labels=wanted)
    assert {one.label for row in best for one in row} <= set(wanted)


def test_another_beam(name: str, fitted: Method[Any], toy_test: Dataset) -> None:
    if not fitted.has_beam:
        with pytest.raises(ConfigError, match="looks at every label; leave beam out"):
            fitted.predict(toy_test, k=3, beam=5)
        return
    narrow, (everything, _) = fitted.predict(toy_test, k=42, beam=1), every_score(fitted, toy_test.corpus.texts)
    assert (everything.labels >= 0).all()
    if name not in ("ensemble", "bonsai"):  # a member that looks at every label, trees of a single level
        assert (narrow.labels < 0).any()
    for row in narrow:
        assert row
        assert sorted(row, key=lambda one: -one.score) == row
    with pytest.raises(ConfigError, match="beam is 0"):
        fitted.predict(toy_test, beam=0)


def test_a_threshold(fitted: Method[Any], toy_test: Dataset) -> None:
    everything = fitted.predict(toy_test, k=8)
    threshold = float(np.median(everything.scores))
    some = fitted.predict(toy_test, k=8, threshold=threshold)
    assert [[one for one in row if one.score >= threshold] for row in everything] == list(some)
    assert 0 < (some.labels < 0).sum() < some.labels.size


def test_labels_that_do_not_exist(fitted: Method[Any]) -> None:
    with pytest.raises(DataError, match=r"no label 'Label 0-1' among the 42 labels; did you mean 'label 0-1'\?"):
        fitted.predict(["a"], labels=["Label 0-1"])
    with pytest.raises(DataError, match="give a list of names"):
        fitted.predict(["a"], labels="label 0-1")
    with pytest.raises(ConfigError, match="labels is empty"):
        fitted.predict(["a"], labels=[])


KINDS = {"one-vs-all": "margin", "ensemble": "rank", "xr-transformer": "margin", "x-transformer": "margin"}


def test_what_the_scores_are(name: str, fitted: Method[Any], toy_test: Dataset) -> None:
    found = fitted.predict(toy_test, k=5)
    assert found.kind == KINDS.get(name, "score")
    if found.kind == "score":
        assert 0 <= found.scores.min() <= found.scores.max() <= 1
    assert found.top(2).kind == found[:3].kind == found.at_least(0.5).kind == found.kind


def test_probabilities_keep_the_ranking(fitted: Method[Any], toy_test: Dataset, tmp_path: Path) -> None:
    before = fitted.predict(toy_test, k=8)
    fitted.save(tmp_path / "model")
    model = load(tmp_path / "model").calibrate(toy_test)
    found = model.predict(toy_test, k=8)
    assert found.kind == "probability"
    np.testing.assert_array_equal(found.labels, before.labels)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert expected_calibration_error(found, toy_test) < 0.05
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(toy_test, k=8, threshold="f1") == model.predict(toy_test, 8, threshold="f1")


@pytest.mark.parametrize("method", METHODS)
def test_configs_survive_json(method: str) -> None:
    if METHODS[method].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    cls = method_class(method).config_class
    assert from_dict(cls, json.loads(json.dumps(to_dict(cls())))) == cls()


def test_loading_what_is_not_a_model(tmp_path: Path, toy_train: Dataset) -> None:
    with pytest.raises(StoreError, match="no such model folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=r"model\.json"):
        load(tmp_path)
    model = OneVsAll().fit(toy_train)
    model.save(tmp_path / "model")
    (tmp_path / "model" / "manifest.json").unlink()  # which would notice every change of a file
    card_path = tmp_path / "model" / "model.json"
    card = json.loads(card_path.read_text())
    card_path.write_text(json.dumps(card | {"format": 99}))
    with pytest.raises(StoreError, match="format 99"):
        load(tmp_path / "model")
    card_path.write_text(json.dumps(card)[:50])
    with pytest.raises(StoreError, match="damaged"):
        load(tmp_path / "model")
    card_path.write_text(json.dumps(card))
    with pytest.raises(StoreError, match="one-vs-all"):
        XRLinear.load(tmp_path / "model")


def test_a_method_takes_its_own_config() -> None:
    with pytest.raises(ConfigError, match="takes a OneVsAllConfig"):
        OneVsAll(XRLinearConfig())  # type: ignore[arg-type]
    assert replace(XRLinearConfig(), trees=2).trees == 2
