from __future__ import annotations

from treetop.methods.record import MethodRecord


def test_names_come_from_the_home() -> None:
    record = MethodRecord("bag", "place.of.bags:BagOfWords", "a bag", frozenset({"resume"}))
    assert record.module == "place.of.bags"
    assert record.public_names == ("BagOfWords", "BagOfWordsConfig")
    assert record.has("resume")
    assert not record.has("encoder")
