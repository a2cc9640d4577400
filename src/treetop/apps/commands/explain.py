"""`treetop explain`: why a label is suggested for a text."""

from __future__ import annotations

import json
from typing import Annotated, Any, Optional

import typer

from treetop.apps.options import THRESHOLD_HELP, Device, ModelPath, Threads, make_runtime, number_or_words

__all__ = ["explain"]

_THRESHOLD = f"Below which score the label would be left out. {THRESHOLD_HELP}"


def explain(
    model: ModelPath,
    text: Annotated[str, typer.Option(help="The text itself; - reads it from standard input.")],
    label: Annotated[Optional[str], typer.Option(help="Which label; the first suggestion if absent.")] = None,  # noqa: UP045
    threshold: Annotated[Any, typer.Option(parser=number_or_words, metavar="NUMBER|AIM", help=_THRESHOLD)] = None,
    nearest: Annotated[
        int, typer.Option(help="Training texts to show, if the model was trained with --keep-texts.")
    ] = 3,
    words: Annotated[int, typer.Option(help="Words to show in the table.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON on standard output.")] = False,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Show why a label is suggested for a text: its words, the path to the label, and texts like it."""
    from treetop.apps.explain_page import show_explanation
    from treetop.methods import load

    text = typer.get_text_stream("stdin").read() if text == "-" else text
    loaded = load(model, runtime=make_runtime(0, threads, quiet=True, device=device))
    found = loaded.explain(text, label, threshold=threshold, nearest=nearest)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        show_explanation(found, words=words)
