"""Reading with ONNX Runtime: for machines without OpenVINO. Int8 weights, a scale for each of their channels."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treetop.text.reading.exported import Exported
from treetop.text.tokens import Padded
from treetop.types import Dense

__all__ = ["OnnxReader"]

GRAPH = "graph.onnx"
OPSET = 17
TRIAL = "import onnxruntime"
"""Its products are of instruction sets that every system can be asked for, so that loading it is the only risk."""


class OnnxReader:
    """An exported encoder in a session of ONNX Runtime.

    Activations get their scale from the batch they are in, so that in int8 a text's states depend a little on the texts
    that are read beside it.
    """

    name = "onnx"
    budget = 1024

    def __init__(self, path: Path, about: Exported, threads: int, *, keeps: bool = False) -> None:
        import onnxruntime

        del keeps  # it takes a graph as it is
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 3
        self.width = about.numbers
        self._session: Any = onnxruntime.InferenceSession(path / GRAPH, options, providers=["CPUExecutionProvider"])

    def read(self, batch: Padded) -> Dense:
        """The states of each piece."""
        arrays = {"ids": batch.ids, "mask": batch.mask, "types": batch.types}
        states: Dense = self._session.run(None, {name: array for name, array in arrays.items() if array is not None})[0]
        return states

    @staticmethod
    def export(graph: Any, sample: Sequence[Padded], precision: str, path: Path) -> None:
        """Write a torch graph into a folder; int8 needs no calibration here."""
        import torch
        from onnxruntime.quantization import QuantType, quantize_dynamic

        from treetop.text.reading.graph import tensors

        inputs, file = tensors(sample[0]), path / GRAPH
        axes = {name: {0: "pieces", 1: "tokens"} for name in inputs} | {"states": {0: "pieces"}}
        torch.onnx.export(
            graph, tuple(inputs.values()), file, input_names=list(inputs), output_names=["states"], dynamic_axes=axes,
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip
        if precision == "int8":
            logging.disable(logging.WARNING)  # it warns of every tensor that is not a matrix of weights
            try:
                quantize_dynamic(file, file, per_channel=True, weight_type=QuantType.QInt8)
            finally:
                logging.disable(logging.NOTSET)
