"""What libraries in Rust print when they panic is not shown; all else is."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from random import Random

import pytest
from drills.samples import records
from drills.scrambling import scrambled

from treetop.data import read
from treetop.data.panics import unprinted
from treetop.errors import DataError


@pytest.mark.parametrize("seed", [321, 465])
def test_a_panic_is_one_line(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Columns of a packed Arrow file that begin where they cannot: polars printed a page beside our error."""
    path = tmp_path / "z.arrow"
    path.write_bytes(scrambled("z.arrow", records()["z.arrow"], Random(seed)))
    with pytest.raises(DataError, match=r"z\.arrow: "):
        read(path)
    assert capfd.readouterr().err == ""


def test_what_others_print_meanwhile_is_shown_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    with unprinted():
        os.write(2, b"from a library\n")
        thread = threading.Thread(target=lambda: print("from a thread", file=sys.__stderr__, flush=True))
        thread.start()
        thread.join()
    assert "from a library\n" in capfd.readouterr().err


def test_blocks_of_several_threads(capfd: pytest.CaptureFixture[str]) -> None:
    """The second does without, and standard error is what it was."""
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with unprinted():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(60)
    with unprinted():
        leave.set()
        thread.join()
    os.write(2, b"after all\n")
    assert capfd.readouterr().err == "after all\n"


def test_the_print_of_a_panic_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    def panic() -> None:
        os.write(2, b"thread panicked at somewhere\n")
        raise ValueError("panic")

    with pytest.raises(ValueError, match="panic"), unprinted():
        panic()
    assert capfd.readouterr().err == ""
