from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer
from typer.testing import CliRunner

from treetop.apps.cli import COMMANDS
from treetop.apps.groups import ungrouped

ASKED: list[tuple[str, Oven, bool]] = []


@dataclass(frozen=True)
class Oven:
    title: ClassVar[str] = "Where it is baked"
    degrees: Annotated[int, typer.Option(help="How hot.")] = 180
    fan: Annotated[bool, typer.Option("--fan")] = False


def bake(cake: Annotated[str, typer.Argument()], *, oven: Oven, quiet: Annotated[bool, typer.Option()] = False) -> None:
    """Bake a cake."""
    ASKED.append((cake, oven, quiet))


def run(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(ungrouped(bake))
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_fields_of_a_group_are_options() -> None:
    ASKED.clear()
    run("sponge")
    run("sponge", "--degrees", "200", "--fan", "--quiet")
    assert [("sponge", Oven(), False), ("sponge", Oven(200, fan=True), True)] == ASKED


def test_they_stand_together_under_a_title() -> None:
    shown = run("--help")
    assert "Bake a cake." in shown
    assert shown.index("Where it is baked") < shown.index("--degrees") < shown.index("--fan")


def test_no_command_has_an_option_twice() -> None:
    for command in COMMANDS:
        app = typer.Typer()
        app.command()(ungrouped(command))
        options = [name for option in typer.main.get_command(app).params for name in option.opts]
        assert len(options) == len(set(options)), command.__name__
