"""From a command to a service: what is refused before anything is loaded. The rest is in test_worker and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.serve.server import run
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.sockets import listen
from treetop.errors import ConfigError


def test_what_no_worker_could_do_is_refused_at_once(plain_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model folder"):
        run({"m": tmp_path / "none"}, Settings(port=0))
    with pytest.raises(ConfigError, match="cannot be read"):
        run({"m": plain_folder}, Settings(port=0, keys=tmp_path / "none"))
    with listen(Settings(port=0)) as taken, pytest.raises(ConfigError, match="choose another"):
        run({"m": plain_folder}, Settings(port=taken.getsockname()[1]))
