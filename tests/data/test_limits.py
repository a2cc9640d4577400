"""Files that lie about themselves: refused in a line, before they cost memory. Each was a crash or a traceback once."""

from __future__ import annotations

import gzip
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse as sp

from treetop.data import read
from treetop.data.limits import CELL, LINE
from treetop.data.records import read_texts
from treetop.errors import DataError

X = sp.csr_array(np.array([[0.5, 0, 1, 0], [0, 2, 0, 0.5]], np.float32))
Y = sp.csr_array(np.array([[1, 0, 1, 0], [0, 1, 0, 0]], np.float32))


def release(folder: Path, **changed: Any) -> Path:
    """The two matrices, some arrays of the features replaced."""
    own = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": b"csr"}
    np.savez(folder / "X.trn.npz", **{**own, **changed})
    sp.save_npz(folder / "Y.trn.npz", Y)
    return folder


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"indices": np.array([0, 10**9, 1, 3])}, "row 0 has offsets that fall, or a column outside 0 … 3"),
        ({"indices": np.array([0, 2, -1, 3])}, "row 1 has offsets that fall, or a column outside"),
        ({"indices": np.array([0, 2, 1, 2**32])}, "row 1 has offsets that fall, or a column outside"),
        ({"indptr": np.array([0, 9, 4])}, "row 0 has offsets that fall"),
        ({"indptr": np.array([1, 2, 4])}, "rows run from 1 to 4, not from 0 to 4"),
        ({"indptr": np.array([0, 4])}, "1 rows, 4 columns and 4 values"),
        ({"indptr": np.array([0, 2, 4]) + 0.5}, "indptr holds float64"),
        ({"data": np.array(["a", "b", "c", "d"])}, "data holds <U1"),
        ({"shape": np.array([2, -4])}, "the shape is"),
        ({"shape": np.array([2, 2**40])}, "the shape is"),
        ({"shape": np.array([2, 10**9])}, "1,000,000,000 features, more than the limit of 67,108,864"),
        ({"format": b"csc", "shape": np.array([10**9, 2])}, "1,000,000,000 rows, but only 4 values"),
        ({"format": b"bsr", "data": np.ones((4, 1, 1)), "indices": np.array([0, 10**8, 1, 3])}, "row 0 has offsets"),
        ({"format": b"bsr", "data": np.ones((4, 3, 1))}, "blocks of shape"),
        ({"format": b"coo", "row": np.array([0, 0, 1, 9]), "col": X.indices}, "a column outside 0 … 1"),
        ({"format": b"dia", "data": np.ones((1, 4)), "offsets": np.array([-9])}, "a column outside"),
        ({"format": b"lil"}, "the format 'lil' is not known"),
        ({"format": np.array({}, object)}, "an array of object"),
    ],
)
def test_matrices_with_impossible_arrays(tmp_path: Path, changed: dict[str, Any], expected: str) -> None:
    with pytest.raises(DataError, match=rf"X\.trn\.npz: .*{expected}"):
        read(release(tmp_path, **changed))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_format_that_scipy_saves_is_read(tmp_path: Path, form: str) -> None:
    release(tmp_path)
    sp.save_npz(tmp_path / "X.trn.npz", X.asformat(form))  # type: ignore[call-overload]
    features = read(tmp_path).corpus.features
    assert features is not None
    assert features.toarray().tolist() == X.toarray().tolist()


def test_an_array_that_promises_more_than_it_has(tmp_path: Path) -> None:
    release(tmp_path)
    content = (tmp_path / "X.trn.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "X.trn.npz") as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["data.npy"] = parts["data.npy"].replace(b"(4,), }" + b" " * 9, b"(400000000000,)}")
    with zipfile.ZipFile(tmp_path / "X.trn.npz", "w") as new:
        for name, part in parts.items():
            new.writestr(name, part)
    assert content != (tmp_path / "X.trn.npz").read_bytes()
    with pytest.raises(DataError, match=r"data.npy: an array of float32 of shape \(400000000000,\) in 16 bytes"):
        read(tmp_path)


def test_an_archive_that_unpacks_to_far_more_than_it_is(tmp_path: Path) -> None:
    np.savez_compressed(release(tmp_path) / "X.trn.npz", data=np.zeros(10_000_000), format=b"csr", shape=(2, 4))
    with pytest.raises(DataError, match=r"X.trn.npz: .* bytes become more than .*, beyond the limit of 200 times"):
        read(tmp_path)


def test_labels_are_as_many_as_occur_whatever_a_header_promises(tmp_path: Path) -> None:
    (tmp_path / "train.svm").write_text("2 10 999999999999\n7,2000000000 1:0.5\n7 2:1\n")
    dataset = read(tmp_path / "train.svm")
    assert dataset.space.names == ("7", "2000000000")
    assert dataset.labels.toarray().tolist() == [[1, 1], [1, 0]]
    wide = sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(2, 10**8))
    sp.save_npz(release(tmp_path) / "Y.trn.npz", wide)
    (tmp_path / "train.svm").unlink()
    assert read(tmp_path).space.names == ("0", "1", "2")


def test_one_number_beyond_what_columns_can_hold(tmp_path: Path) -> None:
    (tmp_path / "train.svm").write_text("1 10 999999999999\n3000000000 1:0.5\n")
    with pytest.raises(DataError, match=r"train.svm, line 2: label 3e\+09 is out of range"):
        read(tmp_path / "train.svm")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.svm", "1" * 5000 + " 2 3\n1 1:1\n", "line 1: a count of more than 18 digits"),
        ("a.svm", f"{2**59} {2**59} 3\n1 1:1\n", "576,460,752,303,423,488 features, more than the limit of"),
        ("a.jsonl", '{"text": "a", "labels": {"b": ' + "1" * 400 + "}}\n", "line 1: the weight of label 'b' is inf"),
        ("a.jsonl", '{"text": "a", "labels": {"b": 1e39}}\n', "the weight of label 'b' is 1e\\+39"),
        ("a.jsonl", '{"text": "a", "labels": [' + "1" * 5000 + "]}\n", "line 1: not valid JSON"),
        ("a.jsonl", '{"text": "a", "labels": ' + "[" * 100_000 + "\n", "line 1: not valid JSON"),
        ("a.csv", 'text,labels\na,"' + "[" * 5000 + "]" * 5000 + '"\n', "line 2: the labels"),
        ("a.csv", "text,labels\na," + "[" + "1" * 5000 + "]\n", "line 2: the labels"),
    ],
)
def test_digits_and_depth(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=expected):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.gz", "a.json"])
def test_a_line_without_end(tmp_path: Path, name: str) -> None:
    start = {"a.jsonl.gz": b'{"text": "', "a.csv.gz": b'text,labels\n"', "a.json": b'[{"text": "'}[name]
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "wb") as file:
        file.write(start)
        for _ in range(LINE // 2**20 + 5):
            file.write(b"a" * 2**20)
    with pytest.raises(DataError, match=r"line \d: longer than 33,554,432 bytes, the limit of a line"):
        read(tmp_path / name)


def test_a_cell_without_end_is_refused(tmp_path: Path) -> None:
    """Python's parser takes eight bytes for each character of a cell."""
    (tmp_path / "train.csv").write_text('text,labels\n"' + "a" * (CELL + 1) + '",x\n')
    with pytest.raises(DataError, match=r"train\.csv, line 2: .*field larger than field limit"):
        read(tmp_path / "train.csv")


def test_a_cell_over_lines_without_end(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("wb") as file:
        file.write(b'text,labels\n"')
        for _ in range(LINE // 2**20 + 2):
            file.write(b"a" * (2**20 - 1) + b"\n")
    with pytest.raises(DataError, match=r"line 2: the record that starts here cannot be parsed \(field larger than"):
        read(tmp_path / "a.csv")


def test_a_gzip_file_that_unpacks_to_far_more_than_it_is(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as file:
        for _ in range(70):
            file.write((b'{"text": "a", "labels": []}' + b" " * 1000 + b"\n") * 1000)
    with pytest.raises(DataError, match=r"a.jsonl.gz: .* bytes become more than .*, beyond the limit of 200 times"):
        read(tmp_path / "a.jsonl.gz")


def test_damaged_pages_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"text": [f"a b {i}" for i in range(500)], "labels": [["x", "y"]] * 500}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[20:-600:37] = bytes(byte ^ 0x55 for byte in content[20:-600:37])
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a.parquet: (cannot be read|not a readable)"):
        read(path)
    with pytest.raises(DataError, match=r"a.parquet: (cannot be read|not a readable)"):
        list(read_texts(path))


def test_an_archive_whose_packed_bytes_are_damaged(tmp_path: Path) -> None:
    path = release(tmp_path) / "X.trn.npz"
    np.savez_compressed(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, format=b"csr")
    content = bytearray(path.read_bytes())
    start = content.index(b"data.npy") + len("data.npy")
    for place in range(start, start + 60, 3):
        path.write_bytes(bytes(content[:place]) + bytes((content[place] ^ 0xFF,)) + bytes(content[place + 1 :]))
        with suppress(DataError):
            read(tmp_path)
    path.write_bytes(bytes(content[: start + 40]) + b"\xff" * 40 + bytes(content[start + 80 :]))
    with pytest.raises(DataError, match=r"X\.trn\.npz: "):
        read(tmp_path)


@pytest.mark.parametrize("encoding", ["idna", "punycode", "undefined", "a\0b", "hex"])
def test_encodings_that_are_none_of_texts(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a", "labels": ["b"]}\n')
    with pytest.raises(ValueError, match=r"there is no encoding called"):
        read(tmp_path / "a.jsonl", encoding=encoding)


def test_a_message_stays_short_whatever_it_tells(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"' + "k" * 5_000_000 + '": 1}\n')
    with pytest.raises(DataError) as caught:
        read(tmp_path / "a.jsonl")
    assert len(str(caught.value)) < 1100
    assert "name what to read by --text and --labels" in str(caught.value)


def test_a_name_that_no_system_takes() -> None:
    with pytest.raises(DataError, match=r"File name too long|too long"):
        read("x" * 5000)
