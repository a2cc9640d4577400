from __future__ import annotations

import subprocess
import sys

from treetop.text.reading.engines import ENGINES, Engine

LIGHT = """
import sys
for absent in ("torch", "transformers", "tokenizers", "openvino", "nncf", "onnxruntime", "onnx"):
    sys.modules[absent] = None  # an import of it fails
from treetop.text.reading.choosing import open_reader
from treetop.text.reading.engines import ENGINES
assert [engine.load() for engine in ENGINES.values()]
assert [engine.trial for engine in ENGINES.values()]
"""


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    subprocess.run([sys.executable, "-c", LIGHT], check=True, timeout=300)


def test_what_is_missing() -> None:
    engine = Engine("some", "Some", ("numpy",), ("no_such_package",))
    assert engine.missing(to_export=False) is None
    assert engine.missing(to_export=True) == "no_such_package"


def test_the_fastest_comes_first() -> None:
    assert list(ENGINES) == ["openvino", "onnx"]
