from __future__ import annotations

from pathlib import Path

import pytest

from treetop.data.layout import canonical_split, file_kind, file_source, folder_sources

BAG = "1 1 1\n0 0:1\n"


def folder_of(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(BAG)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ("train.jsonl.gz", "jsonl train.jsonl.gz"),
        ("TRAIN.CSV", "table TRAIN.CSV"),
        ("trn.tsv.gz", "table trn.tsv.gz"),
        ("train.csv train.pq", "frame train.pq"),
        ("train.csv train.xlsx", "table train.csv"),
        ("train.ods", "sheet train.ods"),
        ("train.feather", "frame train.feather"),
        ("X.trn.npz Y.trn.npz", "matrices Y.trn.npz X.trn.npz"),
        ("X.trn.txt Y.trn.npz", "matrices Y.trn.npz X.trn.txt"),
        ("Y.trn.npz train_labels.txt train_raw_texts.txt", "matrices Y.trn.npz train_raw_texts.txt"),
        ("train.txt train_labels.txt train_texts.txt", "texts train_labels.txt train_texts.txt train.txt"),
        ("train_labels.txt train_texts.txt train_v1.txt", "texts train_labels.txt train_texts.txt train_v1.txt"),
        ("Y.trn.txt X.trn.txt tfidf-attnxml/X.trn.npz", "texts Y.trn.txt X.trn.txt X.trn.npz"),
        ("Y.trn.npz X.trn.txt tfidf-attnxml/X.trn.npz", "matrices Y.trn.npz X.trn.txt X.trn.npz"),
        ("Y.trn.npz train.txt train_raw_texts.txt", "matrices Y.trn.npz train_raw_texts.txt train.txt"),
        ("trn_X_Xf.txt trn_X_Y.txt trn.raw.txt", "matrices trn_X_Y.txt trn.raw.txt trn_X_Xf.txt"),
        ("trn_X_Xf.npz trn_X_Y.npz raw_data/trn.raw.txt", "matrices trn_X_Y.npz trn.raw.txt trn_X_Xf.npz"),
        ("trn.json.gz lbl.json.gz train.txt", "repository trn.json.gz"),
        ("raw_text/trn.json raw_text/lbl.json train.txt", "repository trn.json"),
        ("trn.json", "jsonl trn.json"),
        ("X.trn.npz train_labels.txt train_texts.txt", "texts train_labels.txt train_texts.txt X.trn.npz"),
        ("train.txt", "svmlight train.txt"),
        ("eurlex_train.txt train_raw_texts.txt", "svmlight eurlex_train.txt train_raw_texts.txt"),
        ("train.svm", "svmlight train.svm"),
    ],
)
def test_files_of_a_split(tmp_path: Path, files: str, expected: str) -> None:
    source = folder_sources(folder_of(tmp_path, *files.split()))["train"]
    found = [source.path, source.texts, source.features]
    assert " ".join([source.kind, *(path.name for path in found if path)]) == expected


def test_files_that_are_no_split(tmp_path: Path) -> None:
    folder_of(tmp_path, "README.md", "labels.txt", "train_raw_texts.txt", "X.trn.npz", "retrain.jsonl")
    (tmp_path / "filter_labels_train.txt").write_text("12 34\n")
    (tmp_path / "train").mkdir()
    assert folder_sources(tmp_path) == {}


def test_texts_beside_a_file_that_is_no_bag(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "train_labels.txt", "train_texts.txt")
    (folder / "train.txt").write_text("anything\n")
    assert folder_sources(folder)["train"].features is None


def test_pairs_that_do_not_count(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "trn_X_Xf.txt", "trn_X_Y.txt", "tst_X_Xf.txt", "tst_X_Y.txt", "filter_labels_test.txt")
    sources = folder_sources(folder)
    assert sources["train"].filtered is None
    assert sources["test"].filtered == folder / "filter_labels_test.txt"


def test_shards_are_sorted(tmp_path: Path) -> None:
    folder_of(tmp_path, "test-00001-of-00002.parquet", "test-00000-of-00002.parquet", "test-extra.parquet")
    source = folder_sources(tmp_path)["test"]
    assert [path.name for path in source.paths] == ["test-00000-of-00002.parquet", "test-00001-of-00002.parquet"]


def test_a_file_brings_what_belongs_to_it(tmp_path: Path) -> None:
    folder_of(tmp_path, "X.tst.npz", "Y.tst.npz", "test_raw_texts.txt", "mine.jsonl", "dev.jsonl")
    assert file_source(tmp_path / "X.tst.npz") == folder_sources(tmp_path)["test"]
    assert file_source(tmp_path / "dev.jsonl").described
    assert not file_source(tmp_path / "mine.jsonl").described


def test_names_of_kinds_and_splits() -> None:
    assert file_kind(Path("a.b.NDJSON.gz")) == "jsonl"
    assert file_kind(Path("archive.zip")) is None
    assert canonical_split("Valid") == "dev"
    assert canonical_split("extra") == "extra"
