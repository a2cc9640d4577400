"""The engines besides torch, fastest first: an engine is one file here and one line in `ENGINES`."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from treetop.text.reading.exported import Exported
from treetop.text.reading.reader import Reader
from treetop.text.tokens import Padded

__all__ = ["ENGINES", "Engine", "ExportedReader"]


class ExportedReader(Protocol):
    """What the class of an engine's readers is: made from a folder, and able to fill one."""

    def __call__(self, path: Path, about: Exported, threads: int, *, keeps: bool) -> Reader:
        """The encoder exported into a folder, ready to read on so many threads.

        If it `keeps`, what is made of the graph for this processor may be kept for the next time.
        """

    def export(self, graph: Any, sample: Sequence[Padded], precision: str, path: Path) -> None:
        """Fill a folder from a torch module and batches that are typical of what it will read."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the readers of an engine are, and which packages they need."""

    module: str
    reader: str
    packages: tuple[str, ...]
    """To read."""
    tools: tuple[str, ...]
    """To export, besides torch."""

    def missing(self, *, to_export: bool) -> str | None:
        """The first of its packages that is not here."""
        needed = self.packages + (self.tools if to_export else ())
        return next((package for package in needed if importlib.util.find_spec(package) is None), None)

    def load(self) -> ExportedReader:
        """The class of its readers."""
        return cast(ExportedReader, getattr(import_module(self.module), self.reader))

    @property
    def trial(self) -> str:
        """A program that fails on a processor on which the engine is not safe."""
        return str(import_module(self.module).TRIAL)


ENGINES = {
    "openvino": Engine("treetop.text.reading.openvino_reader", "OpenVinoReader", ("openvino",), ("nncf",)),
    "onnx": Engine("treetop.text.reading.onnx_reader", "OnnxReader", ("onnxruntime",), ("onnx",)),
}
