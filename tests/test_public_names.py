from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import treetop
from treetop.methods.catalogue import METHODS

NEURAL = {record.module for record in METHODS.values() if record.extra == "neural"}
NEURAL |= {"treetop.neural.optimiser", "treetop.text.encoder"}


def test_every_public_name_is_there() -> None:
    homes = treetop._homes()
    neural = {name for name, home in homes.items() if home in NEURAL}
    for name in set(homes) - (set() if importlib.util.find_spec("transformers") else neural):
        assert getattr(treetop, name) is not None
    assert set(treetop.__all__) == set(homes)
    assert {"XRLinear", "XRLinearConfig", "load", "METHODS"} <= set(dir(treetop))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = treetop.nonsense


def test_type_checkers_see_the_names_that_are_found_when_they_are_used() -> None:
    """The imports for type checkers stand beside the look-up and must name the same."""
    seen: set[str] = set()
    for path in ("__init__.py", "methods/catalogue.py"):
        module = ast.parse((Path(treetop.__file__).parent / path).read_text(encoding="utf-8"))
        blocks = [
            node for node in module.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
        seen |= {alias.asname or alias.name for node in imports for alias in node.names}
    assert seen - {"*"} == set(treetop.__all__) - {"METHODS"}  # which is imported for good


def test_importing_is_cheap_and_needs_no_torch() -> None:
    code = "import sys, treetop; print([m for m in ('torch', 'polars', 'scipy', 'numpy', 'rich') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
