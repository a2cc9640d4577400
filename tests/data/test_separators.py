from __future__ import annotations

import pytest

from treetop.data import LabelSpace
from treetop.data.separators import splitter
from treetop.errors import DataError


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a|b, c", "d"], [["a", "b, c"], ["d"]]),
        (["a; b", "c,d"], [["a", "b"], ["c,d"]]),
        (["a, b", "c d"], [["a", "b"], ["c d"]]),
        (["one label", ""], [["one label"], []]),
        (['["a", "b|c"]', "[]", ""], [["a", "b|c"], [], []]),
        (["['a', 'b']", "[1, 2]"], [["a", "b"], ["1", "2"]]),
        (["[a]|b"], [["[a]", "b"]]),
    ],
)
def test_the_first_cells_decide(cells: list[str], expected: list[list[str]]) -> None:
    split = splitter(None, cells)
    assert [split(cell) for cell in cells] == expected


def test_a_given_separator_is_obeyed() -> None:
    assert splitter("/", ["a|b"])("a/b|c/") == ["a", "b|c"]
    assert splitter("", ["a|b"])(" a|b ") == ["a|b"]


def test_known_labels_decide_before_anything_else() -> None:
    space = LabelSpace(["Smith, John", "Doe, Jane"])
    assert splitter(None, ["Smith, John"], space)("Doe, Jane") == ["Doe, Jane"]
    assert splitter(None, ["Smith, John;Doe, Jane"], space)("Doe, Jane;x") == ["Doe, Jane", "x"]
    assert splitter(None, ["p,q"], space)("p,q") == ["p", "q"]


@pytest.mark.parametrize("cell", ["['a' 'b']", "[oops]", '[["a"]]', "[1.5]"])
def test_lists_that_are_none_are_refused(cell: str) -> None:
    with pytest.raises(DataError, match="not a list of names"):
        splitter(None, ["['a', 'b']"])(cell)
