from __future__ import annotations

from typing import Any

import pytest

from treetop.data import LabelSpace
from treetop.data.fields import Fields
from treetop.data.intake import Intake, text_of
from treetop.data.lines import Place
from treetop.data.tally import Tally
from treetop.errors import DataError


def test_records_with_weights_beside_or_inside() -> None:
    intake = Intake(Fields(labels="tags", weights="rel"))
    objects: list[dict[str, Any]] = [
        {"text": "x", "tags": ["a", "b"], "rel": [1, 0.5]},
        {"text": "y", "tags": {"b": 2}},
        {"text": "z"},
    ]
    intake.take(enumerate(objects, 1), Place("x"))
    matrix, space = intake.rows.finish()
    assert intake.texts == ["x", "y", "z"]
    assert space.names == ("a", "b")
    assert matrix.toarray().tolist() == [[1, 0.5], [0, 2], [0, 0]]


def test_the_first_cells_decide_for_all_that_follow() -> None:
    intake = Intake(Fields())
    intake.take([(1, {"text": "x", "labels": "a|b"})], Place("first file"))
    intake.take([(1, {"text": "y", "labels": "c,d"})], Place("second file"))
    assert intake.rows.finish()[1].names == ("a", "b", "c,d")


def test_a_known_space_helps_to_cut() -> None:
    intake = Intake(Fields(), LabelSpace(["Smith, John"]))
    intake.take([(1, {"text": "x", "labels": "Smith, John"})], Place("x"))
    assert intake.rows.finish()[1].names == ("Smith, John",)


def test_an_error_names_the_record() -> None:
    place = Place("file")
    with pytest.raises(DataError, match=r"^file, line 5: field 'labels' holds a list"), place:
        Intake(Fields()).take([(4, {"text": "x", "labels": []}), (5, {"text": "y", "labels": [["a"]]})], place)


def test_texts_are_joined_and_nulls_counted() -> None:
    tally = Tally()
    fields = Fields(text=("title", "body"))
    assert text_of({"title": "A", "body": "b"}, fields, tally) == "A\nb"
    assert text_of({"title": None, "body": "b"}, fields, tally) == "b"
    assert text_of({"title": " "}, fields, tally) == ""
    assert tally.null_texts == 2
