"""What endpoints work with."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.serve.service import Service
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.watch import Watch
from treetop.apps.serve.worker import new_table


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(new_table({}, 1), (), ())


def test_feedback_is_kept_only_where_a_folder_is_given(tmp_path: Path, watch: Watch) -> None:
    assert Service(Settings(feedback=None), {}, watch).keeper is None
    keeper = Service(Settings(feedback=tmp_path), {}, watch).keeper
    assert keeper is not None
    assert keeper.folder == tmp_path


def test_keys_are_read_again(tmp_path: Path, watch: Watch) -> None:
    file = tmp_path / "keys"
    file.write_text("a key of enough letters\n")
    service = Service(Settings(keys=file), {}, watch)
    before = service.keys
    service.read_keys()
    assert service.keys is not None
    assert service.keys is not before
