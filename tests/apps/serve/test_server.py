"""Listening."""

from __future__ import annotations

import pytest

from treetop.apps.serve.server import address, listen
from treetop.apps.serve.settings import Settings
from treetop.errors import ConfigError


def test_a_free_port_is_found_and_told() -> None:
    with listen(Settings(port=0)) as listening:
        assert address(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_port_that_is_taken_is_one_clear_line() -> None:
    with listen(Settings(port=0)) as listening, pytest.raises(ConfigError, match=r"Address already in use.*--port"):
        listen(Settings(port=listening.getsockname()[1]))
