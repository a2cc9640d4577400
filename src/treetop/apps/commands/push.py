"""`treetop push`: put a model on the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop.apps.options import ModelPath

__all__ = ["push"]


def push(
    model: ModelPath,
    name: Annotated[str, typer.Argument(help="Where to: user/name.", show_default=False)],
    private: Annotated[bool, typer.Option("--private", help="Nobody else may see it, if it is new.")] = False,
) -> None:
    """Put a model folder on the Hugging Face Hub, as it is. Log in first: hf auth login."""
    from treetop import hub

    typer.echo(hub.push(model, name, private=private))
