"""`treetop split`: texts to learn from, to choose by and to test on, in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from treetop.apps.options import Quiet, Reading, Seed, make_runtime

__all__ = ["split"]


def split(
    data: Annotated[Path, typer.Argument(help="File, or folder with a train file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder to write train, dev and test to; it must not exist.")],
    *,
    test: Annotated[float, typer.Option(help="Share of the texts to test on.")] = 0.1,
    dev: Annotated[float, typer.Option(help="Share of the texts to choose settings by; 0 for none.")] = 0.1,
    by_time: Annotated[Optional[str], typer.Option(help="Column of dates or numbers: the latest are tested.")] = None,  # noqa: UP045
    group: Annotated[Optional[str], typer.Option(help="Column whose texts of one value stay together.")] = None,  # noqa: UP045
    compress: Annotated[bool, typer.Option("--gzip", help="Write .jsonl.gz files.")] = False,
    reading: Reading,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Split texts to learn from, to choose by and to test on; a text that occurs twice stays on one side."""
    from treetop.apps import tables
    from treetop.apps.splitting import check_shares, check_target, parts_of, write_parts
    from treetop.data.columns import read_columns

    check_shares(test, dev)
    check_target(out)
    dataset = reading.read(data, make_runtime(seed, 0, quiet))
    others = read_columns(data, text=reading.text, labels=reading.labels, encoding=reading.encoding)
    parts = parts_of(dataset.corpus, others, test=test, dev=dev, by_time=by_time, group=group, seed=seed)
    write_parts(out, dataset, others, parts, compress=compress)
    if not quiet:
        tables.say_findings(dataset.findings)
        tables.say_split(dataset, parts, out)
