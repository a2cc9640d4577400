"""Models by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.serve.problems import ProblemError
from treetop.apps.serve.shelf import Shelf, named_folders
from treetop.errors import ConfigError
from treetop.runtime import Runtime


def test_names_are_given_or_those_of_the_folders() -> None:
    assert named_folders(["models/a", "b=models/c/"]) == {"a": Path("models/a"), "b": Path("models/c")}


@pytest.mark.parametrize(
    ("given", "said"), [(["a", "x/a"], "two models"), (["../x=y"], "cannot be called"), (["a/.hidden"], "cannot")]
)
def test_names_that_cannot_be(given: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        named_folders(given)


def test_the_first_answers_where_no_name_is_given(model_folder: Path, plain_folder: Path) -> None:
    shelf = Shelf({"toy": model_folder, "plain": plain_folder}, Runtime(threads=1))
    assert not shelf.complete
    with pytest.raises(ProblemError, match="being loaded") as early:
        shelf["toy"]
    assert early.value.status == 503
    shelf.load()
    assert shelf.complete
    assert shelf[None] is shelf["toy"]
    with pytest.raises(ProblemError, match="did you mean 'plain'") as absent:
        shelf["plian"]
    assert absent.value.status == 404
