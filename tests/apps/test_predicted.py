from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, save_npz

from treetop.apps.predicted import read_fused, read_predictions, rows_by_id
from treetop.data.layout import file_source
from treetop.errors import ConfigError, DataError, TreetopError

NAMES = ("a", "b", "c")


def read(path: Path, content: str, texts: int = 2, rows: dict[str, int] | None = None) -> list[list[tuple[str, float]]]:
    path.write_text(content, encoding="utf-8")
    return [[tuple(one) for one in row] for row in read_predictions(path, NAMES, rows or {}, texts)]  # type: ignore[misc]


def test_other_programs_write_less(tmp_path: Path) -> None:
    """Lines without scores, tables without ranks, a matrix without names, labels that the data lacks."""
    expected = [[("b", 2.0), ("new", 1.0)], []]
    assert read(tmp_path / "x.jsonl", '{"labels": ["b", "new"]}\n\n{"labels": []}\n') == expected
    assert read(tmp_path / "x.csv", "label;score;text\nnew;1;0\nb;2;0\n") == expected
    assert read(tmp_path / "x.tsv", "text\tlabel\tscore\n0\tb\t2\n0\tnew\t1\n") == expected
    assert read(tmp_path / "x.trec", "0 0 new 7 1 other\n0 0 b 3 2.0 other\n\n") == expected
    save_npz(tmp_path / "x.npz", csr_array(np.array([[0, 2.0, 0], [0, 0, 1.5]])))
    assert [row[0].label for row in read_predictions(tmp_path / "x.npz", NAMES, {}, 2)] == ["b", "c"]
    pl.DataFrame({"id": ["y", "x"], "label": ["b", "a"], "score": [0.5, 1]}).write_parquet(tmp_path / "x.parquet")
    found = read_predictions(tmp_path / "x.parquet", NAMES, {"x": 0, "y": 1}, 2)
    assert [row[0].label for row in found] == ["a", "b"]


def test_equal_scores_stay_in_order(tmp_path: Path) -> None:
    assert read(tmp_path / "x.csv", "text,label,score\n0,c,1\n0,a,1\n0,b,1\n", 1) == [[("c", 1), ("a", 1), ("b", 1)]]


def test_numbers_of_texts_are_not_ids(tmp_path: Path) -> None:
    """Texts whose ids are numbers, too: a column says which of the two is meant; a run has ids."""
    ids = {"1": 0, "0": 1}
    assert read(tmp_path / "x.csv", "text,id,label,score\n0,1,a,1\n", rows=ids) == [[("a", 1)], []]
    assert read(tmp_path / "y.csv", "id,label,score\n0,a,1\n", rows=ids) == [[], [("a", 1)]]
    assert read(tmp_path / "z.trec", "0 Q0 a 1 1 x\n", rows=ids) == [[], [("a", 1)]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "text,label,score\n2,a,1\n", r"no text 2 \(int\) among the 2"),
        ("x.csv", "text,label,score\n-1,a,1\n", r"no text -1 \(int\)"),
        ("x.csv", "text,label,score\none,a,1\n", r"the text 'one' \(str\) is not a number"),
        ("x.csv", "text,label,score\n0,a,high\n", r"the score 'high' \(str\) is not a number"),
        ("x.csv", "text,label,score\n0,a,nan\n", "the score 'nan'"),
        (
            "x.csv",
            "text,name,score\n0,a,1\n",
            "no column .label.; there are: text, name, score; predictions have text",
        ),
        ("x.trec", "0 Q0 a 1 1\n", "line 1: 5 words"),
        ("x.trec", "zero Q0 a 1 1 x\n", "no text 'zero'"),
        ("x.jsonl", '{"labels": ["a"]}\n', "1 lines for 2 texts"),
        ("x.jsonl", '{"labels": "a"}\n{"labels": []}\n', "line 1: expected a list called 'labels'"),
        ("x.jsonl", '{"labels": ["a"], "scores": []}\n', "line 1: 1 labels but 0 scores"),
        ("x.npz", "no zip", "not a sparse matrix"),
        ("x.parquet", "no parquet", "parquet"),
        ("x.xlsx", "", r"predictions are read from \.jsonl"),
    ],
)
def test_bad_files_are_one_line(name: str, content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TreetopError, match=message) as error:
        read(tmp_path / name, content)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_a_matrix_of_other_data(tmp_path: Path) -> None:
    save_npz(tmp_path / "x.npz", csr_array(np.ones((2, 4))))
    with pytest.raises(DataError, match="4 columns, the data 3 labels"):
        read_predictions(tmp_path / "x.npz", NAMES, {}, 2)
    with pytest.raises(DataError, match="2 rows for 5 texts"):
        read_predictions(tmp_path / "x.npz", (*NAMES, "d"), {}, 5)
    with pytest.raises(DataError, match="no such file"):
        read_predictions(tmp_path / "nowhere.npz", NAMES, {}, 2)


def test_ids_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text('{"id": 5, "text": "a", "labels": []}\n{"text": "b", "labels": []}\n{"id": "x", "text": "c"}\n')
    assert rows_by_id(file_source(path), "text") == {"5": 0, "x": 2}
    (tmp_path / "bag.svm").write_text("1 2 2\n0 0:1\n")
    assert rows_by_id(file_source(tmp_path / "bag.svm"), "text") == {}


def test_several_files_are_one_ranking(tmp_path: Path) -> None:
    """Labels that the data lack have the same number in all of them."""
    (tmp_path / "one.jsonl").write_text('{"labels": ["new", "b", "a"]}\n')
    (tmp_path / "two.csv").write_text("text,label,score\n0,newer,3\n0,b,2\n0,new,1\n")
    paths = [tmp_path / "one.jsonl", tmp_path / "two.csv"]
    found = read_fused(paths, ["a", "b"], {}, 1, "rank_average")
    assert [one.label for one in found[0]] == ["b", "new", "newer"]
    assert [one.score for one in found[0]] == [2, 2, 1.5]
    alone = read_fused(paths[:1], ["a", "b"], {}, 1, "rank_average")
    assert [one.label for one in alone[0]] == ["new", "b", "a"]


def test_an_unknown_ending_is_a_mistake_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        read_predictions(tmp_path / "x.docx", NAMES, {}, 1)
