"""`treetop predict`: suggest labels for the texts of a file or a stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from treetop.apps.cluster.option import Machines
from treetop.apps.options import (
    THRESHOLD_HELP,
    Device,
    Encoding,
    ModelPath,
    Precision,
    StripHtml,
    TextField,
    Threads,
    make_runtime,
    number_or_words,
)

if TYPE_CHECKING:
    from treetop.data import LabelSpace

__all__ = ["predict"]


def predict(
    model: ModelPath,
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="json, csv, tsv, parquet, arrow, xlsx or txt file; - for stdin.")
    ],
    k: Annotated[int, typer.Option("--k", "-k", help="Labels per text, at most.")] = 5,
    threshold: Annotated[Any, typer.Option(parser=number_or_words, metavar="NUMBER|AIM", help=THRESHOLD_HELP)] = None,
    only: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="LABEL", help="Choose among these labels only; may be given several times."),
    ] = None,
    labels_file: Annotated[Optional[Path], typer.Option(help="The same, from a file with one label per line.")] = None,  # noqa: UP045
    beam: Annotated[Optional[int], typer.Option(help="Nodes to keep at each level of the search.")] = None,  # noqa: UP045
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="File to write: .jsonl, .csv, .tsv, .parquet, .trec or .npz; standard output if absent."),
    ] = None,
    label_texts: Annotated[
        bool, typer.Option("--label-texts", help="Write what a label means beside its name.")
    ] = False,
    text: TextField = "text",
    encoding: Encoding = None,
    strip_html: StripHtml = False,
    chunk: Annotated[int, typer.Option(help="Texts at a time.")] = 1024,
    threads: Threads = 0,
    device: Device = "cpu",
    precision: Precision = "float32",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No remarks, only errors.")] = False,
    *,
    machines: Machines,
) -> None:
    """Suggest labels for texts: one JSON line per text, or a file in the form that its ending says."""
    from treetop.apps import remarks
    from treetop.apps.cluster.connecting import connected
    from treetop.apps.writers import check_ending, writer
    from treetop.data import read_texts
    from treetop.methods import load
    from treetop.predictions import check_k

    check_k(k)
    if quiet:
        remarks.quiet()
    if out is not None:
        check_ending(out)
    labels = _allowed(only, labels_file)
    loaded = load(model, runtime=make_runtime(0, threads, quiet=True, device=device, precision=precision))
    ask: dict[str, Any] = {"k": k, "threshold": threshold, "labels": labels, "beam": beam}
    loaded.predict([], **ask)  # what cannot be asked for is refused at once
    texts = _described(loaded.space) if label_texts else None
    chunks = read_texts(source, text=text, chunk=chunk, encoding=encoding, strip_html=strip_html)
    if machines.cluster is not None:
        shared = machines.predicting(out)
        with connected(machines.cluster), writer(out, unseen=loaded.suggests_unseen, texts=texts) as write:
            from treetop.apps.cluster.predicting import predict_on_cluster

            predict_on_cluster(loaded, model, chunks, ask, shared, write)
        return
    with writer(out, unseen=loaded.suggests_unseen, texts=texts) as write:
        for records in chunks:
            write([record.id for record in records], loaded.predict([record.text for record in records], **ask))


def _described(space: LabelSpace) -> dict[str, str]:
    """What describes each label."""
    from treetop.errors import DataError

    if space.texts is None:
        raise DataError("the labels of this model have names only; leave out --label-texts")
    return dict(zip(space.names, space.texts, strict=True))


def _allowed(only: list[str] | None, file: Path | None) -> list[str] | None:
    """The labels to choose from; None for all."""
    if file is None:
        return only or None
    from treetop.data.lines import text_lines
    from treetop.errors import DataError

    if not file.is_file():
        raise DataError("no such file; give one with a label per line", path=file)
    named = [line.strip() for _, line in text_lines(file) if line.strip()]
    if not named:
        raise DataError("the file names no label; write one per line", path=file)
    return [*(only or ()), *named]
