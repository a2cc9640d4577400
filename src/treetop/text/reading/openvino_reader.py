"""Reading with OpenVINO: the quickest on a CPU. Int8 comes from NNCF, calibrated on some of the training texts."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from treetop.text.reading.exported import Exported
from treetop.text.tokens import Padded
from treetop.types import Dense

__all__ = ["OpenVinoReader"]

GRAPH = "graph.xml"
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
    """An exported encoder, compiled for this processor."""

    name = "openvino"
    budget = 1024

    def __init__(self, path: Path, about: Exported, threads: int) -> None:
        import openvino

        hints = {
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": KINDS[about.precision],
            "PERFORMANCE_HINT": "LATENCY",
        }
        self.width = about.numbers
        self._graph: Any = openvino.Core().compile_model(path / GRAPH, "CPU", hints)
        self._own = threading.local()  # a request must not be shared by threads

    def read(self, batch: Padded) -> Dense:
        """The states of each piece."""
        if not hasattr(self._own, "request"):
            self._own.request = self._graph.create_infer_request()
        inputs = [array for array in (batch.ids, batch.mask, batch.types) if array is not None]
        states: Dense = self._own.request.infer(inputs, share_inputs=True)[0]
        return states

    @staticmethod
    def export(graph: Any, sample: Sequence[Padded], precision: str, path: Path) -> None:
        """Write a torch graph into a folder, in int8 as calibrated on a sample of batches."""
        from treetop.text.reading.graph import tensors

        with _at_home():
            import openvino

            model = openvino.convert_model(graph, example_input=tensors(sample[0]))
            if precision == "int8":
                model = _quantise(model, sample)
        openvino.save_model(model, path / GRAPH, compress_to_fp16=precision != "float32")


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
