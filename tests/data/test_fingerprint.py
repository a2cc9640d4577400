"""The fingerprint of labelled texts."""

from __future__ import annotations

import numpy as np

from treetop.data import Dataset, LabelSpace
from treetop.data.fingerprint import fingerprint

TEXTS = ["an apple pie", "a pear", "a cake"]
LABELS = [["apple", "pie"], ["pear"], []]


def test_the_same_data_in_another_order_and_numbering() -> None:
    whole = Dataset.build(TEXTS, LABELS)
    assert len(fingerprint(whole)) == 16
    other = Dataset.build(TEXTS, LABELS, space=LabelSpace(["unused", "pie", "pear"]))
    assert fingerprint(whole) == fingerprint(other) == fingerprint(whole.take(np.array([2, 0, 1])))


def test_other_texts_or_labels_have_another() -> None:
    known = {fingerprint(Dataset.build(TEXTS, LABELS))}
    for labels in ([["apple"], ["pear"], []], [["apple", "pie"], [], ["pear"]], [["apple", "pies"], ["pear"], []]):
        known.add(fingerprint(Dataset.build(TEXTS, labels)))
    known.add(fingerprint(Dataset.build([*TEXTS[:2], "a bun"], LABELS)))
    known.add(fingerprint(Dataset.build(TEXTS[:2], LABELS[:2])))
    assert len(known) == 6
