from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.options import make_runtime, numbers, output
from treetop.errors import ConfigError


def test_numbers_with_commas() -> None:
    assert numbers("--weights", "2,1,0.5") == (2.0, 1.0, 0.5)
    with pytest.raises(ConfigError, match="--weights is '2;1'"):
        numbers("--weights", "2;1")


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), output(tmp_path / "half") as file:
        file.write(str(1 / 0))
    assert list(tmp_path.iterdir()) == []
    with output(tmp_path / "whole") as file:
        file.write("done")
    assert (tmp_path / "whole").read_text() == "done"


def test_quiet_tells_nobody() -> None:
    assert not make_runtime(0, 1, quiet=True).told.listens
    assert make_runtime(0, 1, quiet=False).told.listens


def test_each_process_of_torchrun_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_runtime(0, 1, quiet=True, device="cuda").device == "cuda"
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert make_runtime(0, 1, quiet=True, device="cuda").device == "cuda:3"
    assert make_runtime(0, 1, quiet=True).device == "cpu"
