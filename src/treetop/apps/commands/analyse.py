"""`treetop analyse`: draw what happens inside a transformer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treetop.apps.options import Data, Device, ModelPath, Reading, Threads, make_runtime
from treetop.errors import ConfigError

__all__ = ["analyse"]


def analyse(
    model: ModelPath,
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")],
    *,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    limit: Annotated[int, typer.Option(help="Texts to look at, taken evenly; 0 for all.")] = 2000,
    reading: Reading,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Draw what happens inside a transformer: shortlist recall, attention and likeness of layers."""
    from treetop.apps import tables
    from treetop.errors import needs_neural
    from treetop.methods import load

    with needs_neural():
        from treetop.apps.analysis import analyse, draw
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out is {out}: no folder can be made there ({error.strerror}); choose another") from None
    loaded = load(model, runtime=make_runtime(0, threads, quiet=False, device=device))
    dataset = reading.read(data, split=split, space=loaded.space)
    if 0 < limit < len(dataset):
        dataset = dataset.take([number * len(dataset) // limit for number in range(limit)])
    found = analyse(loaded, dataset)
    tables.show_analysis(found, draw(found, out))
