"""Reading with OpenVINO: the quickest on a CPU. Int8 comes from NNCF, calibrated on some of the training texts."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.text.reading.compiled import find_compiled, keep_compiled, word_for
from treetop.text.reading.exported import FILE as DESCRIPTION, Exported
from treetop.text.tokens import Padded
from treetop.types import Dense

__all__ = ["OpenVinoReader", "extended", "round_up"]

_BEGINS = b"<?xml"
GRAPH = "graph.xml"
CONVERTERS = "openvino.tools.ovc"
TRIAL = """
import numpy, openvino
from openvino import opset13 as ops
x = ops.parameter([-1, 256], numpy.float32)
weight = ops.constant(numpy.linspace(-1, 1, 65536, dtype=numpy.float32).reshape(256, 256))
ends = [ops.constant(numpy.float32(end)) for end in (-2, 2)]
rough, rough_weight = (ops.fake_quantize(node, *ends, *ends, 256) for node in (x, weight))
both = [ops.matmul(rough, rough_weight, False, False), ops.matmul(x, weight, False, False)]
for kind in ("f32", "bf16"):
    hint = {"INFERENCE_PRECISION_HINT": kind, "INFERENCE_NUM_THREADS": 1}
    graph = openvino.Core().compile_model(openvino.Model(both, [x]), "CPU", hint)
    for states in graph([numpy.ones((64, 256), numpy.float32)]).values():
        assert numpy.isfinite(states).all()
"""
"""Products in all number formats that may be used, for a process that may die of them."""
KINDS = {"int8": "f32", "float32": "f32", "bfloat16": "bf16"}
"""What is computed with where the graph itself does not say int8."""


class OpenVinoReader:
    """An exported encoder, compiled for this processor.

    A batch of a shape that it has not seen before takes it half as long again, for code that is made for the shape. So
    batches come in round shapes: texts a little longer, with padding, and where they are few a few more.
    """

    name = "openvino"
    budget = 1024

    def __init__(self, path: Path, about: Exported, threads: int, *, keeps: bool = False) -> None:
        hints = {
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": KINDS[about.precision],
            "PERFORMANCE_HINT": "LATENCY",
        }
        self.width, self._frame, self._limit = about.numbers, about.frame, about.limit
        self._graph: Any = _known(path, hints, threads) if keeps else _compile(path, hints)
        self._own = threading.local()  # a request must not be shared by threads

    def read(self, batch: Padded) -> Dense:
        """The states of each piece."""
        if not hasattr(self._own, "request"):
            self._own.request = self._graph.create_infer_request()
        pieces, tokens = batch.ids.shape
        full = pieces * tokens > 0.75 * self.budget
        shape = pieces if full else round_up(pieces, 3), max(tokens, min(round_up(tokens, 4), self._limit or 1 << 30))
        filled = ((batch.ids, self._frame.pad), (batch.mask, 0), (batch.types, self._frame.types[1]))
        inputs = [
            extended(array, shape, fill, left=self._frame.pad_left) for array, fill in filled if array is not None
        ]
        states: Dense = self._own.request.infer(inputs, share_inputs=True)[0]
        return states[:pieces]

    @staticmethod
    def export(graph: Any, sample: Sequence[Padded], precision: str, path: Path) -> None:
        """Write a torch graph into a folder, in int8 as calibrated on a sample of batches."""
        from treetop.text.reading.graph import tensors

        with _at_home():
            openvino = _openvino()
            model = _converter()(graph, example_input=tensors(sample[0]))
            if precision == "int8":
                model = _quantise(model, sample)
        openvino.save_model(model, path / GRAPH, compress_to_fp16=precision != "float32")


def round_up(size: int, bits: int) -> int:
    """The next number that needs no more binary digits than that before its zeros."""
    step = 1 << max(0, (size - 1).bit_length() - bits)
    return -(-size // step) * step


def extended(array: NDArray[np.int64], shape: tuple[int, int], fill: int, *, left: bool) -> NDArray[np.int64]:
    """An array with more columns, on the side of the padding, and more rows, which repeat the first."""
    if array.shape == shape:
        return array
    pieces, tokens = array.shape
    whole = np.full(shape, fill, np.int64)
    whole[:pieces, shape[1] - tokens if left else 0 : shape[1] if left else tokens] = array
    whole[pieces:] = whole[0]
    return whole


def _openvino() -> Any:
    """The package without its converters, which take half of its import and which only an export needs."""
    if "openvino" not in sys.modules:
        before = sys.modules.get(CONVERTERS)
        sys.modules[CONVERTERS] = None  # type: ignore[assignment]  # which it takes for not installed
        try:
            import openvino  # noqa: F401
        finally:
            del sys.modules[CONVERTERS]
            if before is not None:
                sys.modules[CONVERTERS] = before
    return sys.modules["openvino"]


def _converter() -> Any:
    """`convert_model`, also where the package was imported without it: others look for it there."""
    openvino = _openvino()
    if not hasattr(openvino, "convert_model"):
        openvino.convert_model = import_module(CONVERTERS).convert_model
    return openvino.convert_model


def _compile(path: Path, hints: Mapping[str, Any]) -> Any:
    with (path / GRAPH).open("rb") as file:
        if file.read(len(_BEGINS)) != _BEGINS:  # else OpenVINO tries its readers of all other programs' files on it
            raise ValueError(f"{GRAPH} is not a graph of OpenVINO")
    return _openvino().Core().compile_model(path / GRAPH, "CPU", hints)


def _known(path: Path, hints: Mapping[str, Any], threads: int) -> Any:
    """The graph as it was compiled before, or compiled now and kept."""
    word = word_for("openvino", path / DESCRIPTION, threads)
    content = find_compiled(word)
    if content is not None:
        with suppress(RuntimeError):  # one of another build of the engine, say
            return _openvino().Core().import_model(content, "CPU", hints)
    graph = _compile(path, hints)
    with suppress(RuntimeError):
        keep_compiled(word, graph.export_model().getvalue())
    return graph


@contextmanager
def _at_home() -> Iterator[None]:
    """A block in which OpenVINO's tools report their use to nobody, show no bars, and leave the logging as it is."""
    root, variable = logging.getLogger(), os.environ.get("CI")
    level, handlers = root.level, [(handler, handler.level) for handler in root.handlers]
    os.environ["CI"] = "true"  # where they never report
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        root.setLevel(level)
        root.handlers[:] = [handler for handler, _ in handlers]
        for handler, own in handlers:
            handler.setLevel(own)
        del os.environ["CI"]
        if variable is not None:
            os.environ["CI"] = variable


def _quantise(model: Any, sample: Sequence[Padded]) -> Any:
    import nncf

    from treetop.text.reading.graph import tensors

    nncf.set_log_level(logging.ERROR)
    batches = nncf.Dataset(list(sample), lambda batch: {key: value.numpy() for key, value in tensors(batch).items()})
    return nncf.quantize(model, batches, model_type=nncf.ModelType.TRANSFORMER, subset_size=len(sample))
