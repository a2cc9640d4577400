from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import treetop

NEURAL = {
    "methods.cascadexml",
    "methods.lightxml",
    "methods.x_transformer",
    "methods.xr_transformer",
    "neural.optimiser",
    "text.encoder",
}


def test_every_public_name_is_there() -> None:
    neural = {name for name, home in treetop._HOME.items() if home in NEURAL}
    for name in set(treetop.__all__) - (set() if importlib.util.find_spec("transformers") else neural):
        assert getattr(treetop, name) is not None
    assert set(treetop.__all__) == set(treetop._HOME)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = treetop.nonsense


def test_importing_is_cheap_and_needs_no_torch() -> None:
    code = "import sys, treetop; print([m for m in ('torch', 'polars', 'scipy', 'numpy', 'rich') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
