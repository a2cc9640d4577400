"""`treetop look`: facts about data before any training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import DATA_HELP, Quiet, Reading, make_runtime, output

__all__ = ["look"]


def look(
    data: Annotated[Path, typer.Argument(help=DATA_HELP, show_default=False)],
    reading: Reading,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "train",
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write the facts to this file.")] = None,  # noqa: UP045
    quiet: Quiet = False,
) -> None:
    """Show what data holds and what looks odd, before any training."""
    from treetop.apps.look_page import show_look
    from treetop.apps.looking import look_at

    found = look_at(data, split, **vars(reading), runtime=make_runtime(0, 0, quiet))
    if not quiet:
        show_look(found)
    if json_file is not None:
        with output(json_file) as file:
            file.write(json.dumps(found.flat(), ensure_ascii=False, indent=2) + "\n")
