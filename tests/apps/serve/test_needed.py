"""What is said where the extra is not installed."""

from __future__ import annotations

import sys

import pytest

from treetop.apps.serve.needed import check_installed
from treetop.errors import MissingExtraError


def test_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    check_installed()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "msgspec" else sys)
    with pytest.raises(MissingExtraError, match=r"msgspec is not installed.*pip install 'treetop-xmc\[serve\]'"):
        check_installed()
