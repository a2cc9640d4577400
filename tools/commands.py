"""The page of the command line, docs/commands.md, made of the commands themselves.

python tools/commands.py          writes it anew
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from treetop.apps.cli import app

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
_HEAD = """# Commands

Every command with its options; `treetop COMMAND --help` shows the same. `python tools/commands.py` makes this page.
`treetop --version` says which treetop this is. A mistake of the user is one line on standard error and exit code 2."""


def page() -> str:
    """The whole page."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n\n".join([_HEAD, *(_section(name, command) for name, command in commands.items())]) + "\n"


def _section(name: str, command: Any) -> str:
    usage = " ".join([f"treetop {name}", *(_usage(one) for one in command.params if _needed(one))])
    about = "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
    return "\n\n".join([f"## {name}", f"`{usage}`", about, *_tables(options)])


def _usage(one: Any) -> str:
    if one.param_type_name == "argument":
        return str(one.metavar or one.name.upper()) + ("…" if one.nargs < 0 else "")
    return f"{one.opts[0]} {one.name.upper()}"


def _needed(one: Any) -> bool:
    return bool(one.required or one.param_type_name == "argument")


def _tables(options: list[Any]) -> Iterator[str]:
    """A table for the command's own options, then one for each group of them."""
    titles = dict.fromkeys([None, *(one.rich_help_panel for one in options)])
    for title in titles:
        group = [one for one in options if one.rich_help_panel == title]
        rows = "\n".join(f"| {_names(one)} | {_cell(one.help)} | {_default(one)} |" for one in group)
        if group:
            yield f"| {title or 'Options'} | what | if absent |\n|---|---|---|\n{rows}"


def _names(one: Any) -> str:
    return ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")


def _default(one: Any) -> str:
    if one.required:
        return "needed"
    if isinstance(one.default, bool) or one.default in (None, ()):
        return _flag(one) if isinstance(one.default, bool) and one.secondary_opts else ""
    return f"`{one.default}`"


def _flag(one: Any) -> str:
    return f"`{(one.opts if one.default else one.secondary_opts)[0]}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
