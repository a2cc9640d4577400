"""What a process does alone; that several do the same together is in tests/methods/test_together.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from treetop.neural.parallel import World
from treetop.neural.sharing import Sharing
from treetop.sparse import from_parts
from treetop.store import Folder


def test_alone_everything_is_simply_done(tmp_path: Path) -> None:
    sharing, done = Sharing(World(), tmp_path), []

    def make() -> str:
        done.append(1)
        return "made"

    def never(*_: object) -> str:
        raise AssertionError

    assert sharing.peers is None
    assert sharing.told(make) == sharing.first(make) == sharing.once("a", make, never, never) == "made"
    assert len(done) == 3
    rows = sharing.divided(lambda rows: rows[:, None].astype(np.float32), 5, 1)
    assert rows.ravel().tolist() == [0, 1, 2, 3, 4]
    diagonal = sharing.each(3, lambda rows: from_parts(np.append(rows, 3), rows.astype(np.int32), None, columns=3))
    assert diagonal.toarray().tolist() == np.eye(3).tolist()
    sharing.close()
    assert not list(tmp_path.iterdir())


def test_each_process_has_a_part_of_the_texts() -> None:
    parts = [Sharing(World(rank, 3))._own(10).tolist() for rank in range(3)]
    assert [text for part in parts for text in part] == list(range(10))


def test_what_one_writes_the_other_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two sides of a handing over, one after the other in one process."""
    monkeypatch.setattr(World, "wait", lambda self: None)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)

    def write(value: list[int], folder: Folder) -> None:
        folder.write_json("value.json", value)

    leader, other = (Sharing(World(rank, 2), tmp_path) for rank in (0, 1))
    assert leader.once("a", lambda: [1, 2], write, never_read) == [1, 2]
    assert other.once("a", never_made, write, lambda folder: folder.read_json("value.json")) == [1, 2]


def never_made() -> list[int]:
    raise AssertionError


def never_read(folder: Folder) -> list[int]:
    raise AssertionError
