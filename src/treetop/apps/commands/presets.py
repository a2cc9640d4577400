"""`treetop presets`: list the named settings and the methods, or show all settings of one."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

__all__ = ["presets"]


def presets(
    name: Annotated[Optional[str], typer.Argument(help="Show all its settings.", show_default=False)] = None,  # noqa: UP045
) -> None:
    """List the named settings and the methods; of a NAME all settings, as a file for --config."""
    if name is None:
        from treetop.apps import tables

        tables.show_presets()
    else:
        from treetop.apps.toml import all_settings

        typer.echo(all_settings(name), nl=False)
