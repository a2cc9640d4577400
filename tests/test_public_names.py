from __future__ import annotations

import subprocess
import sys

import pytest

import treetop


def test_every_public_name_is_there() -> None:
    for name in treetop.__all__:
        assert getattr(treetop, name) is not None
    assert set(treetop.__all__) == set(treetop._HOME)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = treetop.nonsense


def test_importing_is_cheap_and_needs_no_torch() -> None:
    code = "import sys, treetop; print([m for m in ('torch', 'polars', 'scipy', 'numpy', 'rich') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
