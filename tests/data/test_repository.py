from __future__ import annotations

from pathlib import Path

import pytest

from treetop.data import read
from treetop.errors import DataError

RELEASES = Path(__file__).parents[1] / "fixtures" / "releases"


def test_title_and_content_or_the_title_alone(tmp_path: Path) -> None:
    assert read(RELEASES / "repository-texts").corpus.texts[0] == "wheat prices rise\nin short"
    assert read(RELEASES / "repository-texts", text="title").corpus.texts[0] == "wheat prices rise"
    titles = tmp_path / "LF-AmazonTitles-131K"
    titles.mkdir()
    for file in (RELEASES / "repository-texts").iterdir():
        (titles / file.name).write_bytes(file.read_bytes())
    assert read(titles).corpus.texts[0] == "wheat prices rise"
    assert read(titles / "trn.json.gz").space.names == ("W1", "M2", "P3", "L4")


def test_labels_beyond_the_label_file(tmp_path: Path) -> None:
    (tmp_path / "lbl.json").write_text('{"uid": "A", "title": "a"}\n{"uid": "A", "title": "b"}\n')
    (tmp_path / "trn.json").write_text('{"title": "x", "target_ind": [1, 5]}\n')
    with pytest.raises(DataError, match="target_ind holds 5, but the label file has 2 lines, counted from 0"):
        read(tmp_path)
    (tmp_path / "trn.json").write_text('{"title": "x", "target_ind": [1]}\n')
    assert read(tmp_path).space.names == ("0", "1")  # editions share a uid, so their lines are their names
