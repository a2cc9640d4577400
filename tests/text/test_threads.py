"""The threads of torch, which do not survive a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'neural'")

from treetop.runtime import Runtime
from treetop.text.threads import threads


def test_torch_uses_as_many_threads_as_it_is_told() -> None:
    before = torch.get_num_threads()
    with threads(Runtime(threads=3)):
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


def test_threads_of_a_program_do_not_switch_it_under_one_another() -> None:
    """Two that overlapped left each other's number behind, for good."""
    before = torch.get_num_threads()
    inside, leave, seen = threading.Event(), threading.Event(), []

    def first() -> None:
        with threads(Runtime(threads=3)):
            inside.set()
            leave.wait(60)

    one = threading.Thread(target=first)
    one.start()
    assert inside.wait(60)
    with threads(Runtime(threads=5)):
        seen.append(torch.get_num_threads())
        leave.set()
        one.join(60)
        seen.append(torch.get_num_threads())
    assert seen == [3, 3]
    assert torch.get_num_threads() == before
    fresh: list[int] = []
    another = threading.Thread(target=lambda: fresh.append(torch.get_num_threads()))
    another.start()
    another.join(60)
    assert fresh == [before]


FORKED = """
import os, sys, torch
from treetop.runtime import Runtime
from treetop.text.threads import threads

def compute():
    with threads(Runtime(threads=2)):
        return torch.ones(1000, 1000).softmax(1).amax().item(), torch.get_num_threads()

first, used = compute()
assert used == 2
child = os.fork()
if child == 0:
    large = torch.ones(1000, 1000).softmax(1)  # also outside of treetop's own blocks
    again, used = compute()
    os._exit(0 if (again, used) == (first, 1) else 7)
_, status = os.waitpid(child, 0)
assert compute() == (first, 2)  # the parent goes on as before
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_computes_with_the_one_thread_it_has() -> None:
    """It waited for ever for the threads that the fork had left behind."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORKED], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        _, said = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise
    assert process.returncode == 0, said
