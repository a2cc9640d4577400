from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from treetop.data.docstrings import Docstring, docstrings, label_names, prose

SOURCE = '''
"""A module."""


class Series(Base, abc.ABC, object):
    """A column of numbers with a name."""

    def mean(self, axis=0, *, x=None, keepdims=False, _private=1):
        """Average over one axis.

        The sum is divided by the ``count``, see `sum`.

        Parameters
        ----------
        axis : int
            Which one to take.

            .. versionadded:: 1.2
                Negative numbers.

        Returns
        -------
        mean : float
            The result.

        Examples
        --------
        >>> Series([1]).mean()
        1.0
        """

    def _hidden(self):
        """Private things are not shown here."""

    def short(self):
        """Too short."""

if True:
    async def fetch(url):
        """Read what an address holds.

        :param url: the address
        """

def outer():
    def inner():
        """Functions inside functions are not shown."""
'''


def found(folder: Path, module: str, source: str = SOURCE) -> list[Docstring]:
    path = folder / "module.py"
    path.write_text(source, encoding="utf-8")
    return list(docstrings(path, module))


def test_texts_and_labels_of_a_file(tmp_path: Path) -> None:
    assert found(tmp_path, "polars.series._series") == [
        Docstring("A column of numbers with a name.", ["polars.series", "Series", "Base", "ABC"]),
        Docstring(
            "Average over one axis. The sum is divided by the count, see sum. Which one to take. The result.",
            ["polars.series", "Series", "mean()", "axis=", "keepdims="],
        ),
        Docstring("Read what an address holds.", ["polars.series", "fetch()", "url="]),
    ]


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("email.message", "email.message"),
        ("scipy.sparse.linalg._dsolve.linsolve", "scipy.sparse"),
        ("numpy._core.fromnumeric", "numpy"),
        ("_pydecimal", "decimal"),
    ],
)
def test_the_module_as_users_write_it(tmp_path: Path, module: str, place: str) -> None:
    assert {row.labels[0] for row in found(tmp_path, module)} == {place}


def test_private_modules_and_broken_files_give_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, "_pyrepl.console") == []
    assert found(tmp_path, "_py_abc") == []
    assert found(tmp_path, "json", SOURCE + "\ndef broken(:\n") == []
    assert found(tmp_path, "json", SOURCE + "\n'\x00'\n") == []
    assert found(tmp_path, "json", SOURCE + "\nTABLE = [" + "0, " * 50_000 + "]\n") == []


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Say :func:`~os.path.join` and *this* [1]_.", "Say os.path.join and this ."),
        ("One.\n\n>>> f(1)\n2\n\nTwo.", "One. Two."),
        ("One.\n\nArgs:\n    x: what\n", "One."),
        ("One.\n\n.. note::\n\n    Hidden.\n\nTwo.", "One. Two."),
        ("One.\n\nSee Also\n--------\nother : a name that would tell too much\n", "One."),
    ],
)
def test_prose_leaves_out_what_is_no_sentence(docstring: str, expected: str) -> None:
    assert prose(docstring) == expected


def test_labels_of_a_method() -> None:
    (node,) = ast.parse(dedent("def get(self, key, /, default, *args, timeout=None, n=1, **kwargs): ...")).body
    assert isinstance(node, ast.FunctionDef)
    assert label_names(node, "Queue") == ["Queue", "get()", "key=", "default=", "timeout="]
