from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.data import Corpus
from treetop.errors import StoreError
from treetop.naming import NameIndex
from treetop.store import Folder

NAMES = ["tax law", "law", "tax", "Ärztliche_Versorgung"]
TEXTS = ["the tax and the law", "a law", "ärztliche Versorgung", "law on tax law"]


@pytest.fixture(scope="module")
def index() -> NameIndex:
    return NameIndex.build(NAMES, TEXTS)


def share(index: NameIndex, text: str, label: int) -> float:
    return sum(part.share for part in index.parts_of(text, label))


def test_the_share_of_a_name_that_a_text_has(index: NameIndex) -> None:
    whole = share(index, "on tax law", 0)
    assert share(index, "nothing", 0) == 0
    assert 0 < share(index, "the tax and the law", 0) < whole  # the words, and not in a row
    assert share(index, "law", 0) < share(index, "tax", 0)  # law is the more common word
    assert share(index, "a LAW", 1) < share(index, "a tax", 2) < whole  # and long names say more than short ones


def test_names_of_any_language_and_written_as_one(index: NameIndex) -> None:
    parts = {part.words for part in index.parts_of("für ÄRZTLICHE Versorgung", 3)}
    assert parts == {"ärztliche", "versorgung", "ärztliche versorgung"}


def test_shares_by_the_formula(index: NameIndex) -> None:
    in_texts, in_names = {"tax": 2, "law": 3, "tax law": 1}, {"tax": 2, "law": 2, "tax law": 1}
    idf = {term: np.log((1 + 4 + 100) / (1 + in_texts[term] + 100 * in_names[term] / 4)) + 1 for term in in_texts}
    other = [np.log((1 + 4 + 100) / (1 + 1 + 100 / 4)) + 1] * 3  # the terms of the last name
    usual = np.median([sum(idf.values()), idf["law"], idf["tax"], sum(other)])
    scale = sum(idf.values()) ** 0.75 * usual**0.25
    parts = {part.words: part.share for part in index.parts_of("tax law", 0)}
    assert parts == pytest.approx({term: value / scale for term, value in idf.items()}, rel=1e-6)


def test_features_without_texts_have_no_names(index: NameIndex) -> None:
    from treetop.types import CSR

    corpus = Corpus([], CSR(np.eye(3, dtype=np.float32)))
    assert index.terms_of(corpus).shape == (3, index.terms.width)
    assert index.terms_of(corpus).nnz == 0


def test_stored_and_read_again_or_refused(index: NameIndex, tmp_path: Path) -> None:
    with Folder.create(tmp_path / "n") as folder:
        index.save(folder)
    again = NameIndex.load(Folder.open(tmp_path / "n"), 4)
    assert again.parts_of("on tax law", 0) == index.parts_of("on tax law", 0)
    with pytest.raises(StoreError, match="index of names"):
        NameIndex.load(Folder.open(tmp_path / "n"), 2)  # labels that are not there
