"""The page that maps the C++ sources, beside the sources themselves."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "treetop" / "kernels" / "src"
FILES = sorted(path for path in SOURCES.rglob("*.?pp"))
FOLDERS = ("common", "text", "tree", "train", "search")


@cache
def rows() -> dict[str, tuple[str, str]]:
    """By file: the section of the page it is listed in, and what is said of it."""
    found: dict[str, tuple[str, str]] = {}
    section = ""
    for line in (SOURCES / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:].partition(":")[0]
        elif line.startswith("| `"):
            names, _, what = line.strip("| ").partition(" | ")
            for name in re.findall(r"`([\w.]+)`", names):
                assert name not in found, f"{name} is listed twice"
                found[name] = section, what
    return found


@cache
def included(path: Path) -> frozenset[Path]:
    """All our files that a file includes, directly or not."""
    direct = {SOURCES / name for name in re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))}
    return frozenset(direct.union(*(included(file) for file in direct)))


def place(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def test_every_file_is_on_the_page_in_its_folder_and_nothing_else_is() -> None:
    listed = {f"{section}/{name}" for name, (section, _) in rows().items()}
    assert listed == {place(path) for path in FILES} - {"module.cpp"}


@pytest.mark.parametrize("path", FILES, ids=place)
def test_folders_know_common_and_themselves_only(path: Path) -> None:
    allowed = FOLDERS if path.parent == SOURCES else ("common", path.parent.name)
    assert {file.parent.name for file in included(path)} <= set(allowed)


def test_what_is_compiled_per_instruction_set_is_marked() -> None:
    per_isa = [path for path in FILES if path.stem.endswith("_isa")]
    once = set().union(*({path} | included(path) for path in FILES if path.suffix == ".cpp" and path not in per_isa))
    only_per_isa = set(per_isa).union(*(included(path) for path in per_isa)) - once
    marked = {name for name, (_, what) in rows().items() if what.startswith("**per instruction set**")}
    assert marked == {path.name for path in only_per_isa}


def test_the_build_knows_every_source() -> None:
    build = (SOURCES.parents[3] / "CMakeLists.txt").read_text(encoding="utf-8")
    once = {path for path in FILES if path.suffix == ".cpp" and not path.stem.endswith("_isa")}
    assert set(re.findall(r"\$\{KERNELS\}/([\w/]+\.cpp)", build)) >= {place(path) for path in once}
    per_isa = {"/".join(pair) + "_isa.cpp" for pair in re.findall(r"kernel_per_isa\((\w+) (\w+)\)\n", build)}
    assert per_isa >= {place(path) for path in FILES if path.stem.endswith("_isa")}
