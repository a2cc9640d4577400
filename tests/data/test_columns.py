from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest

from treetop.data import read
from treetop.data.columns import column, read_columns
from treetop.errors import DataError


def test_what_stands_beside_texts_and_labels_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes("id;title;body;tags;year\n7;Caf\xe9;warm;a,b;2020\n\n8;Tea;;b;2021\n".encode("cp1252"))
    found = read_columns(path, text=("title", "body"), labels="tags")
    assert found == [{"id": "7", "year": "2020"}, {"id": "8", "year": "2021"}]
    assert len(found) == len(read(path, text=("title", "body"), labels="tags"))
    assert column(found, "year") == ["2020", "2021"]
    with pytest.raises(DataError, match=r"no column 'yaer'; there are: id, year; did you mean 'year'"):
        column(found, "yaer")


def test_of_json_lines_and_json_lists(tmp_path: Path) -> None:
    objects = ['{"text": "a", "labels": ["x"], "meta": {"by": 1}}', '{"text": "b", "labels": ["x"]}']
    (tmp_path / "lines.jsonl").write_text("\n\n".join(objects))
    (tmp_path / "list.json").write_text(f"[{', '.join(objects)}]")
    for name in ("lines.jsonl", "list.json"):
        found = read_columns(tmp_path / name)
        assert found == [{"meta": {"by": 1}}, {}]
        assert column(found, "meta") == [{"by": 1}, None]


def test_of_typed_tables_and_shards(tmp_path: Path) -> None:
    for shard in range(2):
        when = datetime.date(2020, 1, 1 + shard)
        frame = pl.DataFrame({"text": ["a", "b"], "labels": [["x"], ["y"]], "n": [shard, None], "when": [when] * 2})
        frame.write_parquet(tmp_path / f"train-{shard:05}-of-00002.parquet")
    found = read_columns(tmp_path)
    assert [row["n"] for row in found] == [0, None, 1, None]
    assert found[3]["when"] == "2020-01-02"
    pl.DataFrame({"text": ["a", "b"], "labels": [["x"], ["y"]]}).write_parquet(tmp_path / "bare.parquet")
    assert read_columns(tmp_path / "bare.parquet") == [{}, {}]


def test_a_format_without_columns_has_none(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 1 1\n0 0:1\n")
    assert read_columns(tmp_path / "train.txt") == []
