"""`treetop predict`: suggest labels for the texts of a file or a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from treetop.apps.options import Device, Encoding, ModelPath, StripHtml, TextField, Threads, make_runtime, output

__all__ = ["predict"]


def predict(
    model: ModelPath,
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="json, csv, tsv, parquet, arrow, xlsx or txt file; - for stdin.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", help="Labels per text.")] = 5,
    out: Annotated[Optional[Path], typer.Option(help="File to write; standard output if absent.")] = None,  # noqa: UP045
    text: TextField = "text",
    encoding: Encoding = None,
    strip_html: StripHtml = False,
    chunk: Annotated[int, typer.Option(help="Texts at a time.")] = 1024,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Suggest labels for texts: one JSON line per text, with label names and scores."""
    from treetop.data import read_texts
    from treetop.methods import load
    from treetop.predictions import check_k

    check_k(k)
    loaded = load(model, runtime=make_runtime(0, threads, quiet=True, device=device))
    with output(out) as file:
        for records in read_texts(source, text=text, chunk=chunk, encoding=encoding, strip_html=strip_html):
            found = loaded.predict([record.text for record in records], k)
            for record, suggestions in zip(records, found, strict=True):
                row: dict[str, Any] = {} if record.id is None else {"id": record.id}
                row["labels"] = [one.label for one in suggestions]
                row["scores"] = [float(f"{one.score:.6g}") for one in suggestions]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
