"""`treetop pull`: get a model from the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["pull"]


def pull(
    name: Annotated[
        str, typer.Argument(help="A model on the Hub: user/name, or user/name@revision.", show_default=False)
    ],
    out: Annotated[Path, typer.Argument(help="Where to put the model folder.", show_default=False)],
) -> None:
    """Get a model from the Hugging Face Hub into a folder, every byte compared with what was pushed."""
    from treetop import hub

    hub.pull(name, out)
    typer.echo(f"{out}: whole, as it was pushed", err=True)
