from __future__ import annotations

from typing import Any

import pytest

from treetop.data.fields import Fields, absent, as_names, as_text, as_weights, label_row
from treetop.errors import DataError


def test_names_from_lists_numbers_and_strings() -> None:
    assert as_names(["a", 7, "ü"], Fields()) == ["a", "7", "ü"]
    assert as_names("a, b,,c", Fields(separator=",")) == ["a", "b", "", "c"]
    assert as_names("a, b", Fields(separator="")) == ["a, b"]


def test_rows_with_weights_beside_or_inside() -> None:
    record: dict[str, Any] = {"tags": ["a", "b"], "rel": [1, 0.5]}
    assert label_row(record, Fields(labels="tags")) == (["a", "b"], None)
    assert label_row(record, Fields(labels="tags", weights="rel")) == (["a", "b"], [1.0, 0.5])
    assert label_row({"labels": {"a": 2}}, Fields()) == (["a"], [2.0])


def test_absent_names_what_is_there() -> None:
    assert str(absent("field", "label", ["labels", "x"])).endswith("there are: labels, x; did you mean 'labels'?")
    assert str(absent("column", "text", [])) == "no column 'text'; there are: none; name the one to read, or rename it"


@pytest.mark.parametrize("value", [None, 1, ["x"], {"x": 1}, True])
def test_what_is_no_text(value: Any) -> None:
    with pytest.raises(DataError, match=r"field 'text' is .*, expected a text"):
        as_text(value, "text")


@pytest.mark.parametrize("value", [[True], ["1"], [None], 3, None])
def test_what_are_no_weights(value: Any) -> None:
    with pytest.raises(DataError, match=r"field 'w' .* expected"):
        as_weights(value, "w")


def test_long_values_are_shortened_in_messages() -> None:
    with pytest.raises(DataError) as caught:
        as_names("x" * 10_000, Fields())
    assert len(str(caught.value)) < 200
