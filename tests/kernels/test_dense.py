from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treetop.errors import ConfigError, DataError
from treetop.kernels import best_nodes, margins_at
from treetop.kernels.reference import dense as reference
from treetop.sparse import from_parts
from treetop.types import CSR


def random_case(texts: int, nodes: int, width: int, seed: int) -> tuple[Any, Any, Any, CSR]:
    rng = np.random.default_rng(seed)
    states, weight = (rng.standard_normal((rows, width)).astype(np.float32) for rows in (texts, nodes))
    chosen = rng.random((texts, nodes)) < 0.5
    shortlist = from_parts(
        np.append(0, chosen.sum(1).cumsum()), np.nonzero(chosen)[1].astype(np.int32), None, columns=nodes
    )
    return states, weight, rng.standard_normal(nodes).astype(np.float32), shortlist


@given(st.integers(0, 40), st.integers(1, 300), st.integers(1, 70), st.integers(1, 40), st.integers(0, 999))
def test_both_equal_the_reference(texts: int, nodes: int, width: int, k: int, seed: int) -> None:
    states, weight, bias, shortlist = random_case(texts, nodes, width, seed)
    offsets = bias if seed % 2 else None
    expected = reference.margins_at(states, weight, offsets, shortlist)
    np.testing.assert_allclose(
        margins_at(states, weight, offsets, shortlist, threads=2), expected, rtol=1e-4, atol=1e-4
    )
    allowed = None if seed % 3 else np.arange(nodes) % 2 == 0
    found, margins = best_nodes(states, weight, offsets, k, allowed=allowed, threads=2)
    ids, values = reference.best_nodes(states, weight, offsets, k, allowed=allowed)
    np.testing.assert_allclose(margins, values, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(found, ids)


def test_a_node_has_the_same_margin_in_both() -> None:
    states, weight, bias, _ = random_case(9, 300, 67, seed=3)
    found, margins = best_nodes(states, weight, bias, 300)
    order = np.argsort(found, axis=1)
    every = from_parts(np.arange(10) * 300, np.tile(np.arange(300, dtype=np.int32), 9), None, columns=300)
    np.testing.assert_array_equal(
        np.take_along_axis(margins, order, 1).ravel(), margins_at(states, weight, bias, every)
    )


def test_ties_go_to_the_lower_node() -> None:
    found, margins = best_nodes(np.ones((1, 2), np.float32), np.ones((200, 2), np.float32), None, 40)
    assert found[0].tolist() == list(range(40))
    assert set(margins[0].tolist()) == {2.0}


def test_what_does_not_fit_is_refused() -> None:
    states, weight, bias, shortlist = random_case(3, 5, 4, seed=1)
    with pytest.raises(DataError, match="do not fit"):
        best_nodes(states[:, :3], weight, bias, 2)
    with pytest.raises(DataError, match="biases for"):
        best_nodes(states, weight, bias[:2], 2)
    with pytest.raises(DataError, match="a mask"):
        best_nodes(states, weight, bias, 2, allowed=np.ones(2, np.bool_))
    for k, threads in ((0, 1), (1, 0)):
        with pytest.raises(ConfigError):
            best_nodes(states, weight, bias, k, threads=threads)
    with pytest.raises(DataError, match="shortlist"):
        margins_at(states[:2], weight, bias, shortlist)
    shortlist.indices[-1] = 9
    with pytest.raises(DataError, match="damaged in row"):
        margins_at(states, weight, bias, shortlist)


@pytest.mark.parametrize("isa", ["generic", "avx2"])
def test_other_instruction_sets_give_nearly_the_same(isa: str) -> None:
    """If this processor lacks one, there is nothing to compare."""
    program = (
        "import numpy as np\nfrom treetop.kernels import best_nodes\n"
        "a, b = np.random.default_rng(0), np.random.default_rng(1)\n"
        "states, weight = (r.standard_normal((rows, 37)).astype('f4') for r, rows in ((a, 5), (b, 50)))\n"
        "found = best_nodes(states, weight, None, 9)\n"
        "print([part.tolist() for part in found])"
    )
    done = {}
    for chosen in ("", isa):
        environment = os.environ | ({"TREETOP_ISA": chosen} if chosen else {})
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
        )
        if ran.returncode:
            assert "TREETOP_ISA" in ran.stderr
            pytest.skip("this processor has no such instructions")
        done[chosen] = np.array(eval(ran.stdout))
    np.testing.assert_allclose(done[isa], done[""], rtol=1e-4, atol=1e-4)
