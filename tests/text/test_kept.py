"""Training texts that stay with a model: those like a text that carry a label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.data import Dataset, LabelSpace
from treetop.errors import StoreError
from treetop.store import Folder
from treetop.text import Tfidf
from treetop.text.kept import KeptTexts

TEXTS = ["fish soup with bread", "fish bones", "bread and salt", "stones", ""]
LABELS = [["food", "sea"], ["food"], ["food"], ["rock"], ["food", "new"]]
SPACE = LabelSpace(["food", "rock", "sea"])


def kept() -> KeptTexts:
    return KeptTexts.of(Dataset.build(TEXTS, LABELS), SPACE)


def test_only_texts_with_the_label_and_a_common_word_are_shown() -> None:
    found = kept().nearest("a fish and bread", 0, 5, SPACE)
    assert [near.text for near in found] == ["bread and salt", "fish soup with bread", "fish bones"]
    assert found[1].labels == ("food", "sea")
    assert set(found[1].words) == {"fish", "bread"}
    rows = Tfidf(kept().tfidf.config).fit_transform(TEXTS)  # the rows of a tf-idf are of length one
    query = kept().tfidf.transform(["a fish and bread"])
    assert found[0].similarity == pytest.approx((rows[[2]] @ query.T).toarray()[0, 0], abs=1e-6)
    assert kept().nearest("a fish and bread", 0, 1, SPACE) == found[:1]
    assert kept().nearest("nothing alike", 0, 5, SPACE) == []
    assert kept().nearest("a fish", 1, 5, SPACE) == []


def test_it_is_read_back_as_it_was(tmp_path: Path) -> None:
    own = kept()
    with Folder.create(tmp_path / "m") as folder:
        own.save(folder.sub("kept"))
    again = KeptTexts.load(Folder.open(tmp_path / "m").sub("kept"), len(SPACE))
    assert again.nearest("a fish and bread", 0, 5, SPACE) == own.nearest("a fish and bread", 0, 5, SPACE)
    assert len(again) == 5
    assert again.size == own.size == sum(file.stat().st_size for file in (tmp_path / "m" / "kept").iterdir())


def test_what_does_not_fit_is_damage(tmp_path: Path) -> None:
    own = kept()
    own.rows.indices[-1] = 10**6
    with Folder.create(tmp_path / "m") as folder:
        own.save(folder)
    with pytest.raises(StoreError, match=r"rows\.safetensors.*column outside"):
        KeptTexts.load(Folder.open(tmp_path / "m"), len(SPACE))
    assert np.array_equal(own.rows.shape, (5, own.tfidf.width))
