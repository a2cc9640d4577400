"""What endpoints work with."""

from __future__ import annotations

from pathlib import Path

from treetop.apps.serve.server import make_service
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.shelf import Shelf
from treetop.runtime import Runtime


def test_feedback_is_kept_only_where_a_folder_is_given(tmp_path: Path) -> None:
    shelf = Shelf({}, Runtime())
    assert make_service(shelf, Settings(feedback=None)).keeper is None
    keeper = make_service(shelf, Settings(feedback=tmp_path)).keeper
    assert keeper is not None
    assert keeper.folder == tmp_path
