"""The native module as a whole."""

from __future__ import annotations

import subprocess
import sys


def test_what_lives_until_python_ends_is_no_leak() -> None:
    """A model in a script's globals, say; nanobind told of each, and asked to look for a bug."""
    code = (
        "import gc; from treetop.kernels import _native\n"
        "kept = _native.Searcher([])\n"
        "def keep(): return kept\n"
        "gc.freeze()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
