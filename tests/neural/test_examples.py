from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from treetop.errors import DataError
from treetop.neural.examples import Examples, padded_rows
from treetop.sparse import canonical
from treetop.text.tokens import Frame, Tokens

FRAME = Frame(prefix=(1,), suffix=(2,), types=(0, 0, 0), pad=0, pad_left=False, pooled_last=False)


def tokens_of(lengths: list[int]) -> Tokens:
    ptr = np.cumsum([0, *lengths])
    return Tokens(np.full(ptr[-1], 7, np.uint16), ptr, FRAME, max_tokens=64)


def some_matrix(rows: int, columns: int = 9) -> csr_array:
    rng = np.random.default_rng(0)
    return canonical(csr_array((rng.random((rows, columns)) < 0.3) * rng.random((rows, columns))))


def test_every_text_once_per_epoch_in_another_order() -> None:
    examples = Examples(tokens_of([3] * 50), [some_matrix(50)])
    first, second = (examples.order(epoch, 8, seed=0) for epoch in (0, 1))
    assert sorted(np.concatenate(first).tolist()) == list(range(50))
    assert len(first) == examples.steps_per_epoch(8) == 7
    assert [a.tolist() for a in first] != [a.tolist() for a in second]
    assert [a.tolist() for a in first] == [a.tolist() for a in examples.order(0, 8, seed=0)]
    assert [a.tolist() for a in first] != [a.tolist() for a in examples.order(0, 8, seed=1)]


def test_batches_are_of_similar_length() -> None:
    lengths = np.random.default_rng(1).integers(1, 60, 1000)
    examples = Examples(tokens_of(lengths.tolist()), [some_matrix(1000)])
    padded = sum(len(rows) * lengths[rows].max() for rows in examples.order(0, 16, seed=0))
    shuffled = np.random.default_rng(2).permutation(1000)
    random = sum(16 * lengths[shuffled[i : i + 16]].max() for i in range(0, 1000, 16))
    assert padded < 1.15 * lengths.sum() < 0.7 * random


def test_rows_become_padded_tensors() -> None:
    matrix = some_matrix(6)
    rows = np.array([4, 0, 4])
    nodes = padded_rows(matrix, rows)
    for row, ids, values in zip(rows, nodes.ids, nodes.values, strict=True):
        expected = matrix[[row]]
        real = ids >= 0
        assert ids[real].tolist() == expected.indices.tolist()
        np.testing.assert_allclose(values[real], expected.data)
        assert not values[~real].any()
    assert padded_rows(canonical(np.zeros((3, 5))), np.array([0, 2])).ids.shape == (2, 0)


def test_a_batch_holds_tokens_truth_and_who_competes() -> None:
    true, shortlist = some_matrix(5), some_matrix(5, 12)
    batch = Examples(tokens_of([1, 2, 3, 4, 5]), [true, true], shortlist).batch(np.array([3, 1]), limit=5)
    assert batch.tokens.ids.tolist() == [[1, 7, 7, 7, 2], [1, 7, 7, 2, 0]]
    assert len(batch) == 2
    assert len(batch.true) == 2
    assert batch.shortlist is not None
    assert torch.equal(batch.shortlist.ids, padded_rows(shortlist, np.array([3, 1])).ids)


def test_mismatched_sizes() -> None:
    with pytest.raises(DataError, match="5 texts, but a matrix of 4 rows"):
        Examples(tokens_of([1] * 5), [some_matrix(4)])
    with pytest.raises(DataError, match="no texts"):
        Examples(tokens_of([]), [canonical(np.zeros((0, 3)))])
