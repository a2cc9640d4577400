"""What people follow in the pages: commands that exist, notebooks that run, and the way of a stranger."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from collections import deque
from pathlib import Path
from typing import Any

import pytest
import typer.main

from treetop.apps.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "recipes" / "README.md", *sorted(DOCS.rglob("*.md"))]
CONSOLE = re.compile(r"^ *```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^]]*)\]\(([^)#:]*)(?:#([^)]*))?\)")


def commands_of(page: Path) -> list[str]:
    """Every `$ treetop …` of a page, continued lines joined."""
    blocks = "\n".join(CONSOLE.findall(page.read_text(encoding="utf-8"))).replace("\\\n", " ")
    return [line.strip()[2:] for line in blocks.splitlines() if line.strip().startswith("$ treetop")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_is_one_that_the_program_knows(page: Path) -> None:
    """Command, options and their values are parsed as in life; nothing is run."""
    program: Any = typer.main.get_command(app)
    for line in commands_of(page):
        words = shlex.split(re.sub(r"(?<= )…(?= |$)", "", line), comments=True)[1:]  # "and so on" is no argument
        words = words[: words.index("|")] if "|" in words else words
        if not words or words[0].startswith("-"):
            continue
        outer = program.make_context("treetop", ["presets"])
        name, command, rest = program.resolve_command(outer, words)
        command.make_context(name, rest, parent=outer)  # a usage error says which option is unknown


def test_a_command_that_does_not_exist_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for line in ("treetop train --data D --out M --bugdet 5m", "treetop trian --data D"):
        page.write_text(f"```console\n$ {line}\n```\n")
        with pytest.raises(Exception, match=r"(?i)no such (option|command)"):
            test_every_command_is_one_that_the_program_knows(page)


@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.py")), ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell after cell in one space of names, with or without marimo; with it as marimo runs them, too."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    assert len(cells) >= 5
    for cell in cells:
        body = [line for line in cell.body if not isinstance(line, ast.Return)]
        assert {argument.arg for argument in cell.args.args} <= set(names), "a cell takes what no cell before it gives"
        exec(compile(ast.Module(body, []), str(path), "exec"), names)
    if importlib.util.find_spec("marimo") is not None:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        notebook = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(notebook)
        notebook.app.run()


STRANGERS = {
    "50,000 product titles in Swedish": ("product names", ("--text title --labels category",)),
    "5,000 long contracts": ("contracts", ("--data contracts/",)),
    "three million labels": ("or millions", ("--preset xr-linear", "linear.weights=int8")),
}
"""The words that a stranger looks for in links, and what the command at the end of the way says."""


@pytest.mark.parametrize("wish", STRANGERS)
@pytest.mark.parametrize("first", ["README.md", "docs/index.md"])
def test_a_stranger_finds_the_command_in_three_clicks(first: str, wish: str) -> None:
    """From the first page, by links whose words or row name what is looked for, to a section with the command."""
    sought, said = STRANGERS[wish]
    way = _way(ROOT / first, sought)
    assert way is not None, f"no link says '{sought}'"
    assert len(way) <= 3
    page, anchor = way[-1]
    (section,) = [one for one in _sections(page) if one[0] == anchor]
    commands = "\n".join(line for line in section[1].splitlines() if line.startswith("$ treetop"))
    assert all(words in commands for words in said), commands


def _way(first: Path, sought: str) -> list[tuple[Path, str]] | None:
    """The shortest way by links to a section of that name."""
    waiting: deque[list[tuple[Path, str]]] = deque([[(first, "")]])
    seen = {first}
    while waiting:
        way = waiting.popleft()
        page = way[-1][0]
        for words, target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            other = (page.parent / target).resolve() if target else page
            if anchor and sought in words.lower():
                return [*way, (other, anchor)][1:]
            if other.suffix == ".md" and other.exists() and other not in seen:
                seen.add(other)
                waiting.append([*way, (other, "")])
    return None


def _sections(page: Path) -> list[tuple[str, str]]:
    """The sections of a page by their anchors."""
    parts = re.split(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in parts[1::2]]
    return list(zip(anchors, parts[2::2], strict=True))
