from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from treetop.neural.board import Board
from treetop.neural.checkpoint import Checkpoints


def curve(folder: Path, name: str) -> list[tuple[int, float]]:
    """What TensorBoard itself reads."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder))
    read.Reload()
    return [(point.step, point.value) for point in read.Scalars(name)]


def test_a_log_becomes_curves_and_a_resumed_run_goes_on_with_them(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra 'tensorboard'")
    first = Checkpoints(tmp_path)
    records = [{"step": step, "loss": 1.0 / step, "lr": 0.5} for step in (1, 2, 3)]
    for record in records:
        first.log(record)
    assert [step for step, _ in curve(tmp_path / "tensorboard", "loss")] == [1, 2, 3]  # on disk before the end
    time.sleep(1.1)  # files of events are read in the order of the seconds in their names
    second = Checkpoints(tmp_path)  # the first was killed; its newest checkpoint is that of step 2
    second.rewind_log(records[:2])
    second.log({"step": 3, "loss": 9.0})
    second.log({"step": 3, "score": 0.25})
    second.close()
    assert curve(tmp_path / "tensorboard", "loss") == [(1, 1.0), (2, 0.5), (3, 9.0)]
    assert curve(tmp_path / "tensorboard", "score") == [(3, 0.25)]


def test_without_the_package_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    board = Board(tmp_path / "events")
    board.add({"step": 1, "loss": 2.0})
    board.close()
    assert not (tmp_path / "events").exists()
