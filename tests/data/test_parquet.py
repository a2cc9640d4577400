"""Parquet files that lie about their pages: each took the process down once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from treetop.data import read
from treetop.data.parquet import check_pages
from treetop.errors import DataError

ROWS = pl.DataFrame({"text": ["a b", "c d"] * 500, "labels": [["x"], ["y", "z"]] * 500, "n": [None, 0.5] * 500})


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli"])
def test_what_polars_writes_is_read(tmp_path: Path, compression: str) -> None:
    ROWS.write_parquet(tmp_path / "a.parquet", compression=compression, row_group_size=300)  # type: ignore[arg-type]
    assert read(tmp_path / "a.parquet").labels.nnz == 1500


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_what_arrow_writes_is_read(tmp_path: Path, version: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(ROWS.to_arrow(), tmp_path / "a.parquet", data_page_version=version, row_group_size=100)
    assert read(tmp_path / "a.parquet").labels.nnz == 1500


@pytest.mark.parametrize(
    ("good", "bad"), [(b"\x15\x04\x15\x00", b"\x15\x3b\x15\x00"), (b"\x15\x04\x15\x00", b"\x15\x7f\x15\x00")]
)
def test_a_dictionary_of_less_than_nothing(tmp_path: Path, good: bytes, bad: bytes) -> None:
    """Two texts are in the dictionary: 2 is 04 in zigzag, and 3b is -30."""
    path = tmp_path / "a.parquet"
    ROWS.select("text", "labels").write_parquet(path, compression="uncompressed")
    content = path.read_bytes()
    place = content.index(good)
    path.write_bytes(content[:place] + bad + content[place + len(good) :])
    with pytest.raises(DataError, match=r"a.parquet: not a readable parquet file \(a page of -"):
        read(path)


def test_no_parquet_at_all(tmp_path: Path) -> None:
    for content in (b"", b"PAR1", b"x" * 100, b"PAR1" + b"\xff" * 100 + b"\x60\0\0\0PAR1"):
        (tmp_path / "a.parquet").write_bytes(content)
        with pytest.raises((DataError, IndexError, KeyError, ValueError)):
            check_pages(tmp_path / "a.parquet")
        with pytest.raises(DataError, match=r"a\.parquet: "):
            read(tmp_path / "a.parquet")
