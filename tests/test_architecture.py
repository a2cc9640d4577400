"""The rules of ARCHITECTURE.md, checked on the source: layers, siblings, third-party imports, docstrings, prints."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from pathlib import Path

import pytest

from treetop.methods.catalogue import METHODS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "treetop"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ABOVE_ALL = ("__init__", "__main__")


def section(title: str) -> str:
    """The page from one heading to the next."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def block(title: str) -> list[str]:
    """The lines of a section's drawing."""
    return section(title).split("```text\n")[1].split("```")[0].splitlines()


def layers() -> dict[int, list[list[str]]]:
    """Number of a layer → the groups of rooms in it; groups are siblings. What follows three spaces is a remark."""
    found = {}
    for line in block("Who may know whom"):
        number, rooms = line.split(maxsplit=1)
        found[int(number)] = [re.split(" {3,}", group.strip())[0].split() for group in rooms.split("|")]
    return found


def packages() -> dict[str, list[str]]:
    """Package from outside → where it is imported, as the table says."""
    rows = [line.strip("|").split("|") for line in section("Who may know whom").splitlines() if line.startswith("| ")]
    places = {name.strip(): where for names, where in rows[1:] for name in names.split(",")}
    return {name: re.findall("`([^`]+)`", where) or [where.strip()] for name, where in places.items()}


LAYERS = layers()
LAYER = {room: number for number, groups in LAYERS.items() for group in groups for room in group}
SIBLINGS = [(one, other) for groups in LAYERS.values() for one, other in itertools.permutations(groups, 2)]
PACKAGES = packages()
HOMES_OF_METHODS = {record.module.rpartition(".")[2] for record in METHODS.values()}
LISTS_METHODS = {"__init__", "catalogue"}

FILES = sorted(path for path in PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> list[str]:
    """Full names of everything a file imports, also inside functions and for type checking."""
    names: list[str] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            base = node.module or ""
            names += [f"{base}.{alias.name}" if base.split(".")[0] == "treetop" else base for alias in node.names]
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    if own in ABOVE_ALL:
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "treetop" or len(parts) < 2 or parts[1] == own:
            continue
        other = parts[1]
        assert other in LAYER, f"{path}: {name} is in no layer"
        assert LAYER[other] <= LAYER[own], f"{path} imports upwards: {name}"
        assert not any(own in one and other in two for one, two in SIBLINGS), f"{path} imports its sibling: {name}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "methods").glob("*.py")), ids=lambda path: path.name)
def test_methods_do_not_know_one_another(path: Path) -> None:
    for name in imported(path):
        parts = name.split(".")
        if parts[:2] == ["treetop", "methods"] and len(parts) > 2:
            assert path.stem in LISTS_METHODS or parts[2] not in HOMES_OF_METHODS, f"{path.name} imports {name}"


def with_a_place(path: Path) -> set[str]:
    """Packages from outside that a file imports (`tomllib` is Python's own from 3.11 on), and our kernels."""
    names = imported(path)
    kernels = {"treetop.kernels"} if any(name.startswith("treetop.kernels") for name in names) else set()
    outside = {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"tomllib", "treetop"}
    return outside | (kernels if room(path) != "kernels" else set())


def within(path: Path, place: str) -> bool:
    """Whether a file is the place, or in it."""
    return place == "everywhere" or path.relative_to(PACKAGE).as_posix().startswith(
        place if place.endswith(".py") else f"{place}/"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_packages_stay_where_the_page_has_them(path: Path) -> None:
    for name in with_a_place(path):
        assert name in PACKAGES, f"{path} imports {name}, which ARCHITECTURE.md does not name"
        assert any(within(path, place) for place in PACKAGES[name]), f"{path} must not import {name}"


@pytest.mark.parametrize(("name", "place"), [(name, place) for name, places in PACKAGES.items() for place in places])
def test_packages_are_used_where_the_page_has_them(name: str, place: str) -> None:
    assert any(name in with_a_place(path) for path in FILES if within(path, place)), f"{place} does not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_public_names_have_docstrings_and_nothing_prints(path: Path) -> None:
    module = tree(path)
    assert ast.get_docstring(module), f"{path} has no docstring"
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"{path}:{node.lineno} prints"
    classes = [node for node in module.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    for body in [module.body, *(parent.body for parent in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                overload = isinstance(node, ast.FunctionDef) and any(
                    isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list
                )
                assert overload or ast.get_docstring(node), f"{path}:{node.lineno} {node.name} has no docstring"


def test_every_source_file_has_a_test_file() -> None:
    """tests/ mirrors src/treetop; kernels/reference is what the kernels' tests compare with."""
    missing = []
    for path in FILES:
        place = path.relative_to(PACKAGE)
        if path.name in ("__init__.py", "__main__.py", "types.py", "errors.py") or "reference" in place.parts:
            continue
        if not (ROOT / "tests" / place.parent / f"test_{path.name}").exists():
            missing.append(str(place))
    assert not missing


def test_the_rooms_on_the_page_are_those_on_disk() -> None:
    """Each with a line of its own, and each in a layer."""
    named = [line.split()[0] for line in block("The rooms")[1:]]
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert sorted(named) == sorted(folders | {path.name for path in PACKAGE.glob("*.py")})
    rooms = {name.rstrip("/").removesuffix(".py") for name in named}
    assert set(LAYER) == rooms - set(ABOVE_ALL)


def test_the_page_is_read_as_it_is_meant() -> None:
    """If the drawing changes its form, the rules must not silently become none."""
    assert LAYER["errors"] < LAYER["config"] < LAYER["data"] < LAYER["linear"] < LAYER["methods"] < LAYER["apps"]
    assert (["data"], ["metrics"]) in SIBLINGS
    assert PACKAGES["numpy"] == ["everywhere"]
    assert "text/encoder.py" in PACKAGES["torch"]
