from __future__ import annotations

import pytest

from treetop.data import LabelSpace
from treetop.data.separators import splitter
from treetop.data.tally import Tally
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
        (["a, b", "NaN", "N/A", "null", "nan, c"], [["a", "b"], [], [], [], ["nan", "c"]]),
        (['["a"]', "NaN", "[null]"], [["a"], [], []]),
        (["<c++><c#>", "<a>", ""], [["c++", "c#"], ["a"], []]),
        (["a\nb; c", "d"], [["a", "b; c"], ["d"]]),
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


def rows_of_people(count: int) -> list[list[str]]:
    people = [f"{last}, {first}" for last in ("Smith", "Doe", "Roe") for first in ("John", "Jane", "Ann")]
    return [[people[number % 9], people[(number * 7 + 4) % 9], f"tag{number % 5}"] for number in range(count)]


@pytest.mark.parametrize("between", ["|", ";", "; ", ",", "\n"])
def test_names_that_hold_commas_are_not_cut(between: str) -> None:
    rows = rows_of_people(60)
    split = splitter(None, [between.join(row) for row in rows])
    assert [split(between.join(row)) for row in rows] == rows


def test_commas_inside_of_names_and_with_spaces_between() -> None:
    rows = [[f"{n % 3},{n % 4}-dichloroethane", f"tag{n % 7}"][:: 1 - n % 2 * 2] for n in range(60)]
    split = splitter(None, [", ".join(row) for row in rows])
    assert [split(", ".join(row)) for row in rows] == rows


def test_people_who_type_a_space_or_none_mean_the_same() -> None:
    cells = [f"tag{n % 5},{' ' * (n % 2)}tag{(n + 1) % 5},{' ' * (n % 3 % 2)}tag{(n + 2) % 5}" for n in range(60)]
    split = splitter(None, cells)
    assert {name for cell in cells for name in split(cell)} == {f"tag{n}" for n in range(5)}


def test_a_stray_character_does_not_decide() -> None:
    cells = [f"tag{n % 5}, other{n % 3}" for n in range(60)]
    assert splitter(None, [*cells, "R&amp;D, tag1", "a|b, tag2"])("x, y; z | w") == ["x", "y; z | w"]


def test_one_label_a_cell_that_holds_a_comma() -> None:
    cells = [f"Ministry {n % 9}, Department of some very long name that only it has {n % 9}" for n in range(60)]
    assert splitter(None, cells)(cells[0]) == [cells[0]]


def test_how_labels_were_split_is_told() -> None:
    tally = Tally()
    splitter(None, [", ".join(row) for row in rows_of_people(60)], None, tally)
    assert (tally.split, tally.guessed) == ("labels split at ','", True)
    splitter("/", ["a/b"], None, tally)
    assert (tally.split, tally.guessed) == ("labels split at '/'", False)
    splitter(None, [",".join(row) for row in rows_of_people(60)], None, tally)
    assert tally.split == "labels split at ',' where no space follows"
    names = [[f"Smith {n % 9}", f"John {n % 9}", f"tag{n % 4}"] for n in range(60)]
    splitter(None, [", ".join(row) for row in names], None, tally)
    assert len(tally.inseparable) == 9
    assert ("Smith 3", "John 3") in tally.inseparable
