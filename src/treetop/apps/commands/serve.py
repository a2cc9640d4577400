"""`treetop serve`: suggestions over HTTP, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Device, Threads, make_runtime

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL…", help="Model folders, or NAME=FOLDER.", show_default=False)
    ],
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 for every one.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0 for one that is free.")] = 8000,
    feedback: Annotated[Path, typer.Option(help="Folder that corrections are kept in.")] = Path("feedback"),
    keep_feedback: Annotated[bool, typer.Option("--keep/--no-keep", help="Whether corrections are kept.")] = True,
    body_limit: Annotated[int, typer.Option(help="Bytes of a request, at most.")] = 2_000_000,
    ui: Annotated[bool, typer.Option("--ui/--no-ui", help="Whether there is a page at /.")] = True,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Serve models over HTTP, with a page to try them on."""
    from treetop.apps.serve.needed import check_installed

    check_installed()
    from treetop.apps.serve.server import run
    from treetop.apps.serve.settings import Settings
    from treetop.apps.serve.shelf import Shelf, named_folders

    kept: Optional[Path] = feedback if keep_feedback else None  # noqa: UP045
    settings = Settings(host=host, port=port, body_limit=body_limit, feedback=kept, ui=ui, threads=threads)
    run(Shelf(named_folders(models), make_runtime(0, threads, quiet=True, device=device)), settings)
