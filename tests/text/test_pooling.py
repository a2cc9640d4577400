from __future__ import annotations

import json
from pathlib import Path

import pytest

from treetop.text.pooling import trained_pooling, write_mean_pooling


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert trained_pooling(str(tmp_path)) == "token"
    write_mean_pooling(tmp_path, 32)
    assert trained_pooling(str(tmp_path)) == "mean"
    modules = json.loads((tmp_path / "modules.json").read_text())
    assert [module["path"] for module in modules] == ["", "1_Pooling"]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"pooling_mode_cls_token": True}, "token"),
        ({"pooling_mode": "mean"}, "mean"),
        ({"pooling_mode": "cls"}, "token"),
    ],
)
def test_other_poolings(about: dict[str, object], expected: str, tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(about))
    assert trained_pooling(str(tmp_path)) == expected
