"""What labels look like to a tree, in the words of the settings: their texts, their names, or both."""

from __future__ import annotations

from typing import Literal, TypeAlias

from treetop.data import Dataset
from treetop.errors import DataError
from treetop.labels import LabelTree, TreeConfig, grow_from_texts, grow_tree, pifa
from treetop.labels.representation import beside
from treetop.sparse import AnyFeatures
from treetop.text import Tfidf, TfidfConfig
from treetop.types import CSR

__all__ = ["Representation", "label_features", "tree_on"]

Representation: TypeAlias = Literal["pifa", "pifa-plain", "text", "pifa+text"]
"""The features of a label's texts (weighted by 1/√labels, or plainly), tf-idf of its own text, or both."""


def tree_on(
    kind: Representation, features: AnyFeatures, train: Dataset, config: TreeConfig, *, seed: int, threads: int
) -> LabelTree:
    """The tree that labels are grouped into."""
    plain = kind == "pifa-plain"
    if (plain or kind == "pifa") and isinstance(features, CSR):
        return grow_from_texts(features, train.labels, config, normalise_labels=not plain, seed=seed, threads=threads)
    return grow_tree(label_features(kind, features, train, threads=threads), config, seed=seed, threads=threads)


def label_features(kind: Representation, features: AnyFeatures, train: Dataset, *, threads: int) -> AnyFeatures:
    """A row for each label, from the features of the training texts or from the label texts."""
    parts: list[AnyFeatures] = []
    if kind != "text":
        parts.append(pifa(features, train.labels, normalise_labels=kind != "pifa-plain", threads=threads))
    if kind in ("text", "pifa+text"):
        if train.space.texts is None:
            raise DataError(f"representation '{kind}' needs label texts; add a labels.txt with label<TAB>text")
        parts.append(Tfidf(TfidfConfig()).fit_transform(train.space.texts))
    return parts[0] if len(parts) == 1 else beside(*parts)
