"""`treetop serve`: suggestions over HTTP, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Device

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL…", help="Model folders, or NAME=FOLDER.", show_default=False)
    ],
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 for every one.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0 for one that is free.")] = 8000,
    workers: Annotated[int, typer.Option(help="Processes that answer.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads of each worker; 0 shares the cores among them.")] = 0,
    queue: Annotated[int, typer.Option(help="Texts that may wait for an encoder; more are refused.")] = 256,
    token_budget: Annotated[int, typer.Option(help="Tokens that an encoder reads at once.")] = 4096,
    body_limit: Annotated[int, typer.Option(help="Bytes of a request, at most.")] = 2_000_000,
    deadline: Annotated[float, typer.Option(help="Seconds that a request may take.")] = 30.0,
    api_keys: Annotated[Optional[Path], typer.Option(help="File with a key per line; requests need one.")] = None,  # noqa: UP045
    cors: Annotated[Optional[list[str]], typer.Option(help="Other site whose pages may ask; several times.")] = None,  # noqa: UP045
    feedback: Annotated[Path, typer.Option(help="Folder that corrections are kept in.")] = Path("feedback"),
    keep_feedback: Annotated[bool, typer.Option("--keep/--no-keep", help="Whether corrections are kept.")] = True,
    ui: Annotated[bool, typer.Option("--ui/--no-ui", help="Whether there is a page at /.")] = True,
    device: Device = "cpu",
) -> None:
    """Serve models over HTTP, with a page to try them on."""
    from treetop.apps.serve.needed import check_installed

    check_installed()
    from treetop.apps.serve.server import run
    from treetop.apps.serve.settings import Settings
    from treetop.apps.serve.shelf import named_folders

    settings = Settings(
        host=host, port=port, workers=workers, threads=threads, device=device, queue=queue, token_budget=token_budget,
        body_limit=body_limit, deadline=deadline, keys=api_keys, origins=tuple(cors or ()),
        feedback=feedback if keep_feedback else None, ui=ui,
    )  # fmt: skip
    run(named_folders(models), settings)
