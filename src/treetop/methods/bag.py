"""Where a method's sparse features come from: tf-idf of the texts, features that a benchmark ships, or both."""

from __future__ import annotations

import logging
from typing import Literal, TypeAlias

from scipy import sparse as sp

from treetop.data import Corpus
from treetop.errors import DataError
from treetop.sparse import canonical, check_features, normalise
from treetop.text import Tfidf, TfidfConfig
from treetop.types import CSR, Texts

__all__ = ["FeatureSource", "bag_of_words", "fit_bag_of_words", "taken_features", "texts_of"]

FeatureSource: TypeAlias = Literal["auto", "texts", "given", "both"]
"""Tf-idf of the texts, the given features, or both side by side; "auto": what a benchmark ships, else the texts."""

_log = logging.getLogger("treetop")


def taken_features(wanted: FeatureSource, corpus: Corpus) -> FeatureSource:
    """Which features "auto" means for a corpus; what was asked for must be there."""
    has_texts, has_features = len(corpus.texts) > 0, corpus.features is not None
    if wanted == "auto":
        return "given" if has_features and (corpus.origin or not has_texts) else "texts"
    if wanted != "texts" and not has_features:
        raise DataError(f"features is '{wanted}', but none are given beside the texts; add X.trn.npz, or set 'texts'")
    if wanted != "given" and not has_texts:
        raise DataError(f"features is '{wanted}', but there are no texts; add train_raw_texts.txt, or set 'given'")
    return wanted


def fit_bag_of_words(
    config: TfidfConfig, corpus: Corpus, *, features: FeatureSource = "auto", threads: int = 0
) -> tuple[Tfidf | None, CSR]:
    """The features to learn from, and the tf-idf that makes them, if it has a part in them."""
    taken = taken_features(features, corpus)
    if corpus.features is not None and len(corpus.texts):
        where = corpus.origin or "the corpus"
        _log.info("features=%s: %s (%s has %s columns)", features, _TOLD[taken], where, f"{corpus.features.shape[1]:,}")
    if taken == "given":
        return None, _given(corpus)
    tfidf = Tfidf(config)
    words = tfidf.fit_transform(corpus.texts, threads=threads)
    return tfidf, words if taken == "texts" else _beside(words, _given(corpus))


def bag_of_words(tfidf: Tfidf | None, corpus: Corpus, *, features: FeatureSource = "auto", threads: int = 0) -> CSR:
    """The sparse features of texts, as they were made in training: without tf-idf, they were given."""
    if tfidf is None:
        return _given(corpus)
    if not len(corpus.texts) and len(corpus):
        raise DataError("the model was trained on texts, but only features are given; give the texts")
    words = tfidf.transform(corpus.texts, threads=threads)
    return _beside(words, _given(corpus)) if features == "both" else words


def _given(corpus: Corpus) -> CSR:
    if corpus.features is None:
        hint = "give the features, or train with features=texts"
        raise DataError(f"the model was trained on ready-made features, but texts are given; {hint}")
    check_features(corpus.features, what="the feature matrix")
    return corpus.features


def _beside(words: CSR, given: CSR) -> CSR:
    """Both of length one, and both together of length one."""
    return normalise(canonical(sp.hstack([words, normalise(given)], format="csr")))


_TOLD = {
    "given": "the given features are taken, and no tf-idf of the texts",
    "texts": "tf-idf of the texts is taken, and not the given features",
    "both": "tf-idf of the texts and the given features are taken",
}


def texts_of(corpus: Corpus) -> Texts:
    """The texts, which an encoder cannot do without."""
    if len(corpus) and not len(corpus.texts):
        raise DataError("a transformer reads texts, but only features are given; give the features' texts")
    return corpus.texts
