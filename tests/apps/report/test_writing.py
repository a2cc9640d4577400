"""From model folders to files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treetop.apps.comparing import Wanted
from treetop.apps.report.writing import Files, write_report
from treetop.errors import ConfigError, DataError, StoreError
from treetop.runtime import Runtime

RUNTIME = Runtime(threads=1)


def test_all_files_appear(home: Path, tmp_path: Path) -> None:
    files = Files(tmp_path / "new" / "page.html", tmp_path / "figures.json", tmp_path / "labels.csv")
    size = write_report([home / "calibrated"], Wanted(home), files, RUNTIME, baseline=True)
    page = files.page.read_text(encoding="utf-8")
    assert len(page) == size
    assert "linear-baseline" in page
    assert files.json is not None
    assert files.labels is not None
    names = [one["name"] for one in json.loads(files.json.read_text())["contenders"]]
    assert names == ["calibrated", "linear-baseline"]
    assert files.labels.read_text().startswith("model,label,")


def test_nothing_is_left_of_a_report_that_fails(home: Path, tmp_path: Path) -> None:
    files = Files(tmp_path / "page.html", tmp_path / "figures.json")
    (tmp_path / "bare.jsonl").write_text('{"text": "topic1", "labels": []}\n')
    with pytest.raises(DataError, match="none of the 1 texts has a label"):
        write_report([home / "calibrated"], Wanted(tmp_path / "bare.jsonl"), files, RUNTIME)
    (tmp_path / "foreign.jsonl").write_text('{"text": "topic1", "labels": ["elsewhere"]}\n')
    with pytest.raises(DataError, match="none of its labels is a true label"):
        write_report([home / "calibrated"], Wanted(tmp_path / "foreign.jsonl"), files, RUNTIME)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare.jsonl", "foreign.jsonl"]


def test_places_are_looked_at_before_anything_is_computed(home: Path, tmp_path: Path) -> None:
    nowhere = Wanted(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        write_report([home / "calibrated"], nowhere, Files(tmp_path / "file" / "page.html"), RUNTIME)
    with pytest.raises(ConfigError, match=r"ends in \.html"):
        write_report([home / "calibrated"], nowhere, Files(tmp_path / "page.pdf"), RUNTIME)
    with pytest.raises(ConfigError, match="the same file"):
        write_report([home / "calibrated"], nowhere, Files(tmp_path / "a.html", tmp_path / "a.html"), RUNTIME)
