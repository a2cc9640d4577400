from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.data import Corpus
from treetop.data.digests import earlier_digests, feature_digests
from treetop.data.learned import FILE, Learned
from treetop.errors import StoreError
from treetop.sparse import canonical
from treetop.store import Folder

TEXTS = Corpus(["one text", "another", "a third"])
FEATURES = Corpus([], canonical(np.eye(3, dtype=np.float32)))


@pytest.mark.parametrize("corpus", [TEXTS, FEATURES], ids=["texts", "features"])
def test_it_knows_what_was_learned_and_nothing_else(corpus: Corpus) -> None:
    assert Learned.of(corpus.take([0, 2])).among(corpus).tolist() == [True, False, True]


def test_a_text_is_kept_once() -> None:
    kept = Learned.of(Corpus(["one", "two", "ONE ", "two"]))
    assert len(kept._digests["xxh64"]) == 2
    assert Learned.of(Corpus([])).among(TEXTS).tolist() == [False] * 3


def test_it_is_stored(tmp_path: Path) -> None:
    with Folder.create(tmp_path / "m") as folder:
        Learned.of(TEXTS.take([1])).save(folder)
    assert Learned.load(Folder.open(tmp_path / "m")).among(TEXTS).tolist() == [False, True, False]


@pytest.mark.parametrize("corpus", [TEXTS, FEATURES], ids=["texts", "features"])
def test_what_earlier_versions_stored_is_understood(corpus: Corpus, tmp_path: Path) -> None:
    """Up to 0.2 digests were made by another function."""
    digests = earlier_digests(corpus.texts) if len(corpus.texts) else feature_digests(FEATURES.features)  # type: ignore[arg-type]
    with Folder.create(tmp_path / "m") as folder:
        folder.write_tensors(FILE, {"digests": np.unique(digests[:2])})
    earlier = Learned.load(Folder.open(tmp_path / "m"))
    assert earlier.among(corpus).tolist() == [True, True, False]
    both = Learned.joined([earlier, Learned.of(corpus.take([2]))])  # an ensemble of an old model and a new one
    assert both.among(corpus).tolist() == [True, True, True]


def test_what_later_versions_may_store_is_refused(tmp_path: Path) -> None:
    with Folder.create(tmp_path / "m") as folder:
        folder.write_tensors(FILE, {"sha-4": np.zeros(1, np.uint64)})
    with pytest.raises(StoreError, match=rf"{FILE}: digests of a kind that this version does not know \(sha-4\)"):
        Learned.load(Folder.open(tmp_path / "m"))
