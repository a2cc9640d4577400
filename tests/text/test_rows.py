from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse as sp

from treetop.errors import DataError
from treetop.sparse import Norm, canonical
from treetop.text.rows import RowBuffer, chunks, row_slices, scale_rows


def test_chunks_hold_all_texts_in_order() -> None:
    texts = ["a" * n for n in range(20)]
    parts = list(chunks(iter(texts), characters=30))
    assert [text for part in parts for text in part] == texts
    assert len(parts) > 3
    assert all(sum(map(len, part[:-1])) < 30 for part in parts)


def test_empty_texts_fill_a_chunk_too() -> None:
    assert [len(part) for part in chunks([""] * 10, characters=4)] == [4, 4, 2]


@pytest.mark.parametrize("texts", ["one text", b"bytes"])
def test_one_text_is_not_a_collection(texts: str) -> None:
    with pytest.raises(DataError, match="give a list"):
        list(chunks(texts))


@pytest.mark.parametrize("wrong", [None, float("nan"), b"bytes", 3])
def test_what_is_no_text_is_named_with_its_place(wrong: Any) -> None:
    with pytest.raises(DataError, match="text 1 "):
        list(chunks(["fine", wrong]))


@pytest.mark.parametrize("entries", [1, 5, 40, 1000])
def test_slices_of_rows_hold_everything_once(entries: int) -> None:
    blocks = [canonical(sp.random_array((30, n), density=0.3, rng=n, format="csr")) for n in (4, 9)]
    parts = [(x.indptr.astype(np.int64), x.indices, np.arange(x.nnz, dtype=np.int32)) for x in blocks]
    slices = list(row_slices(parts, entries))
    assert sum(len(both[0][0]) - 1 for both in slices) == 30
    for number, (start, ids, counts) in enumerate(parts):
        found = [both[number] for both in slices]
        assert all(len(one[0]) == len(other[0]) for one, other in slices)
        np.testing.assert_array_equal(np.concatenate([np.diff(s) for s, _, _ in found]), np.diff(start))
        np.testing.assert_array_equal(np.concatenate([i for _, i, _ in found]), ids)
        np.testing.assert_array_equal(np.concatenate([c for _, _, c in found]), counts)
    assert all(len(one[0]) == 2 or len(one[1]) + len(other[1]) <= entries for one, other in slices)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_rows_have_length_one_and_empty_ones_stay_empty(norm: Norm) -> None:
    values, start = np.array([3.0, 4.0, 2.0]), np.array([0, 0, 2, 2, 3, 3])
    scale_rows(values, start, norm)
    np.testing.assert_allclose(values, [0.6, 0.8, 1.0] if norm == "l2" else [3 / 7, 4 / 7, 1.0])
    scale_rows(np.empty(0), np.zeros(3, int), norm)


@pytest.mark.parametrize("in_a_file", [False, True])
def test_buffer_stacks_rows(monkeypatch: pytest.MonkeyPatch, in_a_file: bool) -> None:
    if in_a_file:  # from some entries on
        monkeypatch.setattr("treetop.text.rows._SMALL", 100)
        monkeypatch.setattr("treetop.text.rows.available_memory", lambda: 0)
    blocks = [canonical(sp.random_array((n, 7), density=0.4, rng=n, format="csr")) for n in (3, 1, 50, 2)]
    buffer = RowBuffer(7)
    for block in blocks:
        buffer.append((block.indptr.astype(np.int64), block.indices, block.data))
    result = buffer.finish()
    np.testing.assert_array_equal(result.toarray(), np.vstack([block.toarray() for block in blocks]))
    assert result.indices.dtype == np.int32
    assert result.data.flags.writeable != in_a_file


def test_an_empty_buffer_is_a_matrix_without_rows() -> None:
    assert RowBuffer(5).finish().shape == (0, 5)
