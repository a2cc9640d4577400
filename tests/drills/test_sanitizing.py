"""Kernels under sanitizers: the whole of their tests, as the drill runs them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from drills.sanitizing import _runtime, run_tests

if sys.platform != "linux" or shutil.which("c++") is None:
    pytest.skip("needs Linux and a compiler", allow_module_level=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["address,undefined", "thread"])
def test_all_kernels(kind: str) -> None:
    assert run_tests(kind, ["tests/kernels"]) == ""


def test_a_report_ends_the_run(tmp_path: Path) -> None:
    """The options in the build's configuration do report: one number too many."""
    source = tmp_path / "over.cpp"
    source.write_text("int main(int n, char**) { int* a = new int[2]; a[n + 1] = 1; return a[n + 1]; }\n")
    command = ["c++", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", str(tmp_path / "over")]
    subprocess.run([*command, str(source)], check=True)
    done = subprocess.run([str(tmp_path / "over")], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "heap-buffer-overflow" in done.stderr
    assert Path(_runtime("address,undefined").split(":")[0]).is_file()
