from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from treetop.data.fields import Fields, absent, as_names, as_text, as_weights, is_null, joined
from treetop.errors import ConfigError, DataError


@pytest.mark.parametrize(
    "value",
    [
        ["a", 7, "ü"],
        ("a", 7.0, "ü"),
        ["a", None, 7, float("nan"), "ü"],
        np.array(["a", "7", "ü"]),
        pd.array(["a", 7, "ü"]),
    ],
)
def test_names_from_lists_and_arrays(value: Any) -> None:
    assert as_names(value, "tags") == ["a", "7", "ü"]
    assert as_names(np.array([3, 4]), "tags") == ["3", "4"]


def test_what_stands_for_nothing() -> None:
    assert all(map(is_null, [None, float("nan"), np.nan, pd.NA, pd.NaT]))
    assert not any(map(is_null, ["", "nan", 0, False, [], 1.5]))


def test_text_fields_one_or_several() -> None:
    assert Fields().wanted == ("text", "labels")
    assert Fields(text=("title", "body"), weights="w").wanted == ("title", "body", "labels", "w")
    assert joined(["a title", " ", "", "and a body"]) == "a title\nand a body"
    for nothing in ("", (), ("title", "")):
        with pytest.raises(ConfigError, match="name one field or column, or several"):
            Fields(text=nothing)
    with pytest.raises(ConfigError, match=r"the labels are in \['tags'\]; name one field or column"):
        Fields(labels=["tags"])  # type: ignore[arg-type]


def test_absent_names_what_is_there() -> None:
    near = str(absent("field", "label", ["labels", "x"]))
    assert "there are: labels, x; did you mean 'labels'? name what to read by --text and --labels" in near
    assert "no column 'text'; there are: none; name what to read" in str(absent("column", "text", []))
    assert len(str(absent("column", "text", ["word " * 1000]))) < 200


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
        as_names("x" * 10_000, "tags")
    assert len(str(caught.value)) < 200
