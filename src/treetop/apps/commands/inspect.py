"""`treetop inspect`: show what a model folder holds."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop.apps.options import ModelPath

__all__ = ["inspect"]


def inspect(
    model: ModelPath,
    depth: Annotated[int, typer.Option(help="Levels of the label tree to show.")] = 2,
    verify: Annotated[bool, typer.Option("--verify", help="First read every byte: is it what was saved?")] = False,
) -> None:
    """Show what a model folder holds."""
    from treetop.apps import tables
    from treetop.methods import load
    from treetop.store import Folder

    if verify:
        tables.say_verified(Folder.open(model).verify())
    tables.show_model(load(model), model, depth)
