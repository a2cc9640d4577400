"""Work that goes through a folder, without a cluster: done by this process as another one would."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treetop import kernels
from treetop.apps.cluster.shared import SharedFolder
from treetop.errors import ConfigError, StoreError
from treetop.kernels import Packed
from treetop.linear.level import LinearLevel, SolverConfig, everyone
from treetop.pieces import Arrays, Piece, Task
from treetop.runtime import Runtime
from treetop.sparse import canonical

TEXTS, NODES = 300, 60


class StoppedError(Exception):
    pass


class ThroughFiles:
    """Does pieces from the folder alone, the dearest first; gives up after `most`, as a process that is killed."""

    def __init__(self, folder: Path, most: int = 10**6) -> None:
        self.folder, self.most, self.done = SharedFolder(folder), most, 0

    def map(self, task: Task[Any], pieces: Sequence[Piece[Any]], advance: Callable[[int], object]) -> Iterator[Arrays]:
        name = self.folder.put_task(task)
        for number in sorted(range(len(pieces)), key=lambda one: -pieces[one].cost):
            if self.folder.has_result(name, number):
                continue
            if self.done == self.most:
                raise StoppedError
            self.folder.put_result(name, number, self.folder.take_task(name)(pieces[number].item, 1, advance))
            self.done += 1
        yield from (self.folder.result(name, number) for number in range(len(pieces)))


def train(workers: ThroughFiles | None = None, seed: int = 0) -> Packed:
    rng = np.random.default_rng(3)
    features = canonical(rng.random((TEXTS, 900)) * (rng.random((TEXTS, 900)) < 0.3))
    true = canonical(rng.random((TEXTS, NODES)) < 0.1)
    parents = np.sort(rng.integers(0, 12, NODES)).astype(np.int32)
    runtime = Runtime(seed=seed, workers=workers)
    return LinearLevel.fit(features, true, everyone(TEXTS, 12), parents, SolverConfig(), runtime=runtime).arrays


def same(one: Packed, other: Packed) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treetop.linear.level._NODES_ELSEWHERE", 8)


def test_what_went_through_files_is_the_same(tmp_path: Path) -> None:
    workers = ThroughFiles(tmp_path)
    assert same(train(workers), train())
    assert workers.done > 4


def test_what_is_done_stays_done_and_is_of_this_work_only(tmp_path: Path) -> None:
    first = ThroughFiles(tmp_path, most=3)
    with pytest.raises(StoppedError):
        train(first)
    second, third, other = ThroughFiles(tmp_path), ThroughFiles(tmp_path), ThroughFiles(tmp_path)
    trained = train(second)
    assert same(trained, train())
    train(third)
    assert third.done == 0
    assert not same(train(other, seed=1), trained)
    assert other.done == first.done + second.done


def test_large_arrays_are_files_that_tasks_share(tmp_path: Path) -> None:
    folder = SharedFolder(tmp_path)
    content = np.arange(100_000)
    for task in (("a", content), ("b", content)):
        name = folder.put_task(task)  # type: ignore[arg-type]
        taken: Any = folder.take_task(name)
        assert taken[0] == task[0]
        np.testing.assert_array_equal(taken[1], content)
        assert not taken[1].flags.writeable
        assert (tmp_path / "tasks" / name).stat().st_size < 2000
    assert len(list((tmp_path / "arrays").iterdir())) == 1


def test_a_machine_that_does_not_see_the_folder_is_refused(tmp_path: Path) -> None:
    folder = SharedFolder(tmp_path / "here")
    token = folder.open()
    folder.check(token, "this one")
    with pytest.raises(ConfigError, match=r"10\.0\.0\.7 does not have the shared folder .*No such file"):
        SharedFolder(tmp_path / "there").check(token, "10.0.0.7")
    with pytest.raises(ConfigError, match="does not have the shared folder"):
        folder.check("of another folder at the same path", "10.0.0.7")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, true_open = SharedFolder(tmp_path), Path.open

    def full(path: Path, *mode: Any, **options: Any) -> Any:
        return true_open(Path("/dev/full") if path.name.endswith(".partial") else path, *mode, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        folder.put_result("task", 0, {"a": np.zeros(1_000_000)})
    monkeypatch.undo()
    assert not folder.has_result("task", 0)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_damaged_result_says_what_to_do(tmp_path: Path) -> None:
    folder = SharedFolder(tmp_path)
    folder.put_result("task", 0, {"a": np.zeros(1000)})
    (file,) = (path for path in tmp_path.rglob("*.safetensors"))
    os.truncate(file, 4000)
    with pytest.raises(StoreError, match=r"cut short.*remove it and run the same command again"):
        folder.result("task", 0)


def test_other_code_is_refused(tmp_path: Path) -> None:
    """A machine with another version, or other instructions, would give other bits."""

    class Strangers(ThroughFiles):
        def map(self, task: Any, pieces: Any, advance: Any) -> Iterator[Arrays]:
            task.code = "treetop 0.0.1 and sse instructions"
            return super().map(task, pieces, advance)

    with pytest.raises(ConfigError, match=rf"with treetop .*{kernels.isa()} .* first one with treetop 0\.0\.1 and sse"):
        train(Strangers(tmp_path))
