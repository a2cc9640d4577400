from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planted_methods import PLANTED_MAKERS, p_at_1
from tiny_encoders import make_encoder
from tiny_methods import NEURAL_MAKERS, OPTIM, encoder, matching
from treetop.data import Dataset, LabelSpace
from treetop.errors import ConfigError, DataError
from treetop.labels import TreeConfig
from treetop.linear import SearchConfig
from treetop.methods.x_transformer import XTransformer, XTransformerConfig
from treetop.metrics import evaluate
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderConfig, TextEncoder

QUICK = replace(OPTIM, epochs=1)
PRODUCT = SearchConfig(beam=3, link="l2-hinge", leaf_link="sigmoid", combine="multiply")


def made(**options: Any) -> XTransformer:
    model = matching(optim=QUICK, **options)(Runtime(threads=1))
    assert isinstance(model, XTransformer)
    return model


def with_label_texts(train: Dataset) -> Dataset:
    """Label "label 3-5" is described by its own words."""
    texts = [f"topic{name[6]} word{name[6]}x{name[8]}x0 word{name[6]}x{name[8]}x1" for name in train.space.names]
    return Dataset(train.corpus, train.labels, LabelSpace(train.space.names, texts))


@pytest.mark.parametrize(
    "switch",
    [
        {"representation": "pifa-neural"},
        {"targets": "count"},
        {"use_tfidf": False},
        {"use_embedding": False, "search": PRODUCT},
        {"negatives": "teacher", "search": PRODUCT},
        {"negatives": "matcher"},
        {"search": PRODUCT},
    ],
    ids=str,
)
def test_switches(switch: dict[str, Any]) -> None:
    """On texts that the encoder must be tuned for: untuned, all of these stay at about one half."""
    assert p_at_1(PLANTED_MAKERS["x-transformer"](**switch)) > 0.65


def test_labels_grouped_by_what_they_are_called(toy_train: Dataset, toy_test: Dataset) -> None:
    model = made(representation="text").fit(with_label_texts(toy_train))
    topics = [name[6] for name in toy_train.space.names]
    together = model.tree.parents[1][:, None] == model.tree.parents[1]
    same_topic = np.array([[one == other for other in topics] for one in topics])
    assert together[same_topic].mean() > 3 * together[~same_topic].mean()
    assert evaluate(model.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"] > 0.5


def test_only_labels_of_the_best_clusters_are_ranked(toy_train: Dataset, toy_test: Dataset) -> None:
    model = made(search=SearchConfig(beam=1, leaf_link="noop", combine="last")).fit(toy_train)
    assert model.tree.levels == 2
    found = model.predict(toy_test, k=42).labels
    groups = np.where(found >= 0, model.tree.parents[1][found], -1)
    assert all(len(set(row[row >= 0].tolist())) == 1 for row in groups)


def test_the_score_is_the_margin_or_a_product(toy_train: Dataset, toy_test: Dataset) -> None:
    model = made().fit(toy_train)
    margin = model.predict(toy_test, k=5)
    assert margin.scores.min() < 0
    model.config = replace(model.config, search=replace(PRODUCT, beam=model.config.search.beam))
    product = model.predict(toy_test, k=42).to_csr(42)
    texts, labels = np.arange(len(toy_test)), margin.labels[:, 0]
    embedding = model.reader.read(model.reader.tokenize(toy_test.corpus.texts), Runtime(threads=1))
    of_group = model._match(embedding).toarray()[texts, model.tree.parents[1][labels]]
    expected = np.exp(of_group) / (1 + np.exp(-margin.scores[:, 0]))
    np.testing.assert_allclose(product[texts, labels], expected, rtol=1e-4, atol=1e-7)


def test_negatives_are_of_the_truth_the_matcher_or_both(toy_train: Dataset) -> None:
    model = made(search=SearchConfig(beam=2, leaf_link="noop", combine="last")).fit(toy_train)
    embedding = model.reader.read(model.reader.tokenize(toy_train.corpus.texts), Runtime(threads=1))
    true = model.tree.lift(toy_train.labels, 0)
    shortlist = {}
    for kind in ("teacher", "matcher", "both"):
        model.config = replace(model.config, negatives=kind)
        shortlist[kind] = model._shortlist(true, embedding).toarray() > 0
    assert (shortlist["teacher"] == (true.toarray() > 0)).all()
    assert (shortlist["matcher"].sum(1) == 2).all()
    assert (shortlist["both"] == (shortlist["teacher"] | shortlist["matcher"])).all()


def test_embeddings_may_be_given(toy_train: Dataset, tmp_path: Path) -> None:
    half = np.array([int(name[6]) % 2 for name in toy_train.space.names])  # odd and even topics
    ideal = (toy_train.labels @ np.eye(2)[half]).astype(np.float32)
    config = made(representation="pifa-neural", tree=TreeConfig(widths=(2,))).config
    model = XTransformer(config, runtime=Runtime(threads=1), checkpoint=tmp_path, embedding=ideal).fit(toy_train)
    with pytest.raises(ConfigError, match="holds a run with embedding="):
        XTransformer(config, runtime=Runtime(threads=1), checkpoint=tmp_path, embedding=ideal + 1).fit(toy_train)
    group = model.tree.parents[1]
    assert (group == half).all() or (group == 1 - half).all()
    with pytest.raises(DataError, match="a row for each"):
        XTransformer(config, embedding=ideal[0])
    with pytest.raises(DataError, match="a row for each"):
        XTransformer(config, embedding=ideal[:5]).fit(toy_train)


@pytest.mark.parametrize("kind", ["pifa-neural", "text"])
def test_what_labels_look_like_can_be_read_once_for_several_models(kind: str, toy_train: Dataset) -> None:
    data = with_label_texts(toy_train)
    alone = made(representation=kind)
    shared = XTransformer(alone.config, runtime=alone.runtime, embedding=alone.embed_for_labels(data))
    assert all(map(np.array_equal, shared.fit(data).tree.parents, alone.fit(data).tree.parents))
    assert made(representation="pifa").embed_for_labels(data) is None


def test_another_encoder_may_read_the_labels(toy_train: Dataset, tmp_path: Path) -> None:
    other = make_encoder(tmp_path / "other", ["topic1"], family="distilbert")
    data = with_label_texts(toy_train)
    trees = [made(representation="text", label_encoder=name).fit(data).tree for name in ("", str(other))]
    assert trees[0].widths == trees[1].widths
    assert (trees[0].parents[1] != trees[1].parents[1]).any()


@pytest.mark.parametrize("name", ["x-transformer", "xr-transformer"])
def test_a_pooler_that_the_files_lack_follows_from_the_seed(name: str, toy_train: Dataset, tmp_path: Path) -> None:
    folder = make_encoder(tmp_path, toy_train.corpus.texts, family="roberta")
    bare = TextEncoder.load(EncoderConfig(name=str(folder))).model
    bare.pooler = None
    bare.save_pretrained(folder)
    learner = EncoderConfig(name=str(folder), pooling="pooler", max_tokens=32)
    config = replace(NEURAL_MAKERS[name](Runtime()).config, encoder=learner, optim=replace(OPTIM, steps=2))
    first, again = (
        type(NEURAL_MAKERS[name](Runtime()))(config, runtime=Runtime(threads=1)).fit(toy_train).predict(["topic1"])
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.scores, again.scores)


def test_groups_that_would_be_one_are_refused(toy_train: Dataset) -> None:
    with pytest.raises(DataError, match=r"42 labels make no groups .* xr-transformer and lightxml do without"):
        made(tree=TreeConfig(max_leaf=100)).fit(toy_train)


def test_the_best_matcher_is_chosen_on_held_out_texts_and_all_texts_are_ranked_from(toy_train: Dataset) -> None:
    model = made(dev_share=0.2).fit(toy_train)
    (log,) = model.logs
    assert log.best_score is not None
    assert log.best_step > 0
    assert model.predict(toy_train.corpus.texts[:1])[0]
    with pytest.raises(ConfigError, match="patience is 1, but no texts are held out"):
        XTransformerConfig(optim=replace(OPTIM, patience=1))


def test_label_texts_are_needed_for_their_representation(toy_train: Dataset) -> None:
    with pytest.raises(DataError, match="needs label texts"):
        made(representation="text").fit(toy_train)


def test_the_untuned_embeddings_leave_the_pooling_as_it_is(toy_train: Dataset) -> None:
    config = replace(encoder(), pooling="token")
    reader = TextEncoder.load(config)
    model = made()
    texts = toy_train.corpus.texts[:4]
    before = reader.embed(reader.tokenize(texts), Runtime(threads=1))
    mean = model._mean_states(reader, texts)
    np.testing.assert_array_equal(reader.embed(reader.tokenize(texts), Runtime(threads=1)), before)
    assert not np.allclose(mean, before)


def test_an_interrupted_fit_continues(toy_train: Dataset, tmp_path: Path) -> None:
    config = made().config
    first = XTransformer(config, runtime=Runtime(threads=1), checkpoint=tmp_path).fit(toy_train)
    again = XTransformer(config, runtime=Runtime(threads=1), checkpoint=tmp_path).fit(toy_train)
    np.testing.assert_array_equal(first.predict(["topic1"]).scores, again.predict(["topic1"]).scores)
    with pytest.raises(ConfigError, match=r"config\.dropout=0\.1, now it is 0\.3"):
        XTransformer(replace(config, dropout=0.3), runtime=Runtime(threads=1), checkpoint=tmp_path).fit(toy_train)


def test_impossible_settings() -> None:
    with pytest.raises(ConfigError, match="dropout"):
        XTransformerConfig(dropout=1.0)
    with pytest.raises(ConfigError, match="would see nothing"):
        XTransformerConfig(use_tfidf=False, use_embedding=False)
    with pytest.raises(ConfigError, match="label_encoder"):
        XTransformerConfig(label_encoder="minilm")
    with pytest.raises(ConfigError, match="representation is 'pifa'"):
        XTransformer(XTransformerConfig(encoder=encoder()), embedding=np.ones((3, 2), np.float32))
    with pytest.raises(ConfigError, match="noop"):
        SearchConfig(leaf_link="noop", combine="multiply")
