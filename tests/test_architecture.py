"""The rules of ARCHITECTURE.md, checked on the source: layers, siblings, third-party imports, docstrings, prints."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from treetop.methods.catalogue import METHODS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "treetop"
LAYERS = [
    {"errors", "types", "version", "kernels"},
    {"config", "progress", "runtime", "manifest", "store", "sparse", "tagging", "predictions"},
    {"data", "metrics"},
    {"text", "labels", "presets"},
    {"linear"},
    {"neural"},
    {"methods"},
    {"apps", "sklearn"},
]
SIBLINGS = [{"data", "metrics"}, {"text", "labels", "presets"}, {"apps", "sklearn"}]
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
# A package may be imported in these files only; others are free everywhere.
ONLY_IN = {
    "torch": ("text/encoder.py", "text/frozen.py", "text/tokens.py", "neural/", "methods/"),
    "transformers": ("text/encoder.py", "text/pooling.py", "text/pretrained.py", "text/tokens.py"),
    "huggingface_hub": ("text/pretrained.py",),
    "tokenizers": ("text/encoder.py", "text/tokens.py"),
    "polars": ("data/", "text/", "apps/", "predictions.py"),
    "fastexcel": ("data/",),
    "rich": ("progress/terminal.py", "apps/"),
    "typer": ("apps/",),
    "sklearn": ("sklearn.py",),
    "matplotlib": ("apps/", "neural/analysis"),
}
KERNELS_IN = ("kernels/", "sparse.py", "text/columns.py", "labels/", "linear/")
EVERYWHERE = {"numpy", "scipy"}
FREE = {"safetensors", "tomli"}
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
    if own in ("__init__", "__main__"):
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "treetop" or len(parts) < 2 or parts[1] == own:
            continue
        other = parts[1]
        assert other in LAYER, f"{path}: {name} is in no layer"
        assert LAYER[other] <= LAYER[own], f"{path} imports upwards: {name}"
        assert not any({own, other} <= pair for pair in SIBLINGS), f"{path} imports its sibling: {name}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "methods").glob("*.py")), ids=lambda path: path.name)
def test_methods_do_not_know_one_another(path: Path) -> None:
    for name in imported(path):
        parts = name.split(".")
        if parts[:2] == ["treetop", "methods"] and len(parts) > 2:
            assert path.stem in LISTS_METHODS or parts[2] not in HOMES_OF_METHODS, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_third_party_packages_stay_where_they_belong(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    for name in {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names) - {"treetop"}:
        known = name in EVERYWHERE | FREE or name in ONLY_IN
        assert known, f"{place} imports {name}, which no rule allows"
        assert name not in ONLY_IN or place.startswith(ONLY_IN[name]), f"{place} must not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_kernels_are_reached_through_their_doors(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    uses = [name for name in imported(path) if name.startswith("treetop.kernels")]
    assert not uses or place.startswith(KERNELS_IN), f"{place} imports {uses[0]}; use LinearLevel or LinearTree"


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


def test_the_folder_tree_in_the_document_is_the_one_on_disk() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = {path.name for path in PACKAGE.glob("*.py")}
    for name in rooms | files:
        assert name in text, f"ARCHITECTURE.md does not mention {name}"
