"""Arrow files that lie about their batches: each took the process down once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from treetop.data import read
from treetop.errors import DataError

ROWS = pl.DataFrame({"text": ["a b", "c d"] * 50, "labels": [["x"], ["y", "z"]] * 50})


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_files_and_streams_are_read(tmp_path: Path, compression: str) -> None:
    ROWS.write_ipc(tmp_path / "a.arrow", compression=compression)  # type: ignore[call-overload]
    ROWS.write_ipc_stream(tmp_path / "b.arrow", compression=compression)  # type: ignore[call-overload]
    for name in ("a.arrow", "b.arrow"):
        assert read(tmp_path / name).labels.nnz == 150


def test_a_column_beyond_its_batch(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    ROWS.write_ipc(path, compression="uncompressed")
    content = path.read_bytes()
    length = (100).to_bytes(8, "little")  # rows, in the batch and in its columns
    assert length in content
    path.write_bytes(content.replace(length, (10**14).to_bytes(8, "little")))
    with pytest.raises(DataError, match=r"a.arrow: not a readable arrow file \(100,000,000,000,000 rows in"):
        read(path)
