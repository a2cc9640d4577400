"""`treetop demo`: train on the docstrings of this Python installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Threads, make_runtime

__all__ = ["demo"]


def demo(
    out: Annotated[Optional[Path], typer.Option(help="Keep the model in this folder.")] = None,  # noqa: UP045
    transformer: Annotated[bool, typer.Option(help="Go on with a transformer, if the extra 'minilm' is there.")] = True,
    threads: Threads = 0,
) -> None:
    """Train on the docstrings of this Python installation, and look at what comes out."""
    from treetop.apps.demo import run_demo

    run_demo(out, make_runtime(0, threads, quiet=False), transformer=transformer)
