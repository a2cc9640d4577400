from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treetop.apps.splitting import check_shares, check_target, parts_of, write_parts
from treetop.data import Corpus, Dataset, LabelSpace, read
from treetop.data.columns import read_columns
from treetop.errors import ConfigError, DataError, StoreError
from treetop.sparse import canonical

TEXTS = [f"text {row}" for row in range(200)]
DATA = Dataset.build(TEXTS, [[f"label {row % 7}"] for row in range(200)])
OTHERS: list[dict[str, Any]] = [{"id": row, "author": f"a{row // 4}", "year": 2000 + row // 20} for row in range(200)]


def test_three_parts_that_are_the_whole() -> None:
    parts = parts_of(DATA.corpus, OTHERS, test=0.1, dev=0.2, seed=3)
    assert {name: len(rows) for name, rows in parts.items()} == {"train": 140, "dev": 40, "test": 20}
    assert sorted(np.concatenate(list(parts.values()))) == list(range(200))
    bare = parts_of(DATA.corpus, [], test=0.1, dev=0.0, seed=3)
    assert list(bare) == ["train", "test"]
    assert bare["test"].tolist() == parts["test"].tolist()


def test_by_time_the_latest_are_tested() -> None:
    parts = parts_of(DATA.corpus, OTHERS, test=0.2, dev=0.1, by_time="year")
    years = {name: {OTHERS[row]["year"] for row in rows} for name, rows in parts.items()}
    assert years["dev"] == {2007}
    assert years["test"] == {2008, 2009}
    assert max(years["train"]) == 2006


def test_by_group_authors_stay_together() -> None:
    parts = parts_of(DATA.corpus, OTHERS, test=0.2, dev=0.2, group="author", seed=1)
    authors = [{OTHERS[row]["author"] for row in rows} for rows in parts.values()]
    assert sum(map(len, authors)) == 50 == len(set.union(*authors))


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="both given"):
        parts_of(DATA.corpus, OTHERS, test=0.1, dev=0.1, by_time="year", group="author")
    with pytest.raises(DataError, match="no column 'autor'"):
        parts_of(DATA.corpus, OTHERS, test=0.1, dev=0.1, group="autor")
    for test, dev in ((0.0, 0.1), (0.6, 0.4), (0.1, -0.1), (10, 0)):
        with pytest.raises(ConfigError, match=f"--test is {test} and --dev is {dev}"):
            check_shares(test, dev)
    (tmp_path / "thesis.txt").write_text("words")
    for path in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(StoreError, match="exists already"):
            check_target(path)
    check_target(tmp_path / "new")
    given = Dataset(Corpus([], canonical(np.eye(2, dtype=np.float32))), canonical(np.ones((2, 1))), LabelSpace(["a"]))
    with pytest.raises(DataError, match="features but no texts"):
        write_parts(tmp_path / "new", given, [], {"train": np.arange(2)})
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("compress", [False, True])
def test_what_is_written_is_what_was_read(compress: bool, tmp_path: Path) -> None:
    weighted = Dataset.build(["é\n1", "two"], [["a", "b"], []], weights=[[0.5, 1.0], []])
    parts = {"train": np.array([1]), "test": np.array([0])}
    write_parts(tmp_path / "out", weighted, [{"id": 1}, {"id": 2, "text": "not this"}], parts, compress=compress)
    ending = ".jsonl.gz" if compress else ".jsonl"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"test{ending}", f"train{ending}"]
    test = read(tmp_path / "out", split="test", space=weighted.space)
    assert test.corpus.texts == ["é\n1"]
    assert test.labels.toarray().tolist() == [[0.5, 1.0]]
    assert read_columns(tmp_path / "out") == [{"id": 2}]
