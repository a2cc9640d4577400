"""Settings that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from treetop.apps.serve.settings import Settings
from treetop.errors import ConfigError


@pytest.mark.parametrize("wrong", [{"port": -1}, {"port": 1 << 16}, {"body_limit": 0}])
def test_what_cannot_be_set_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong)).split("_")[0]):
        Settings(**wrong)


def test_defaults_are_safe() -> None:
    assert Settings().host == "127.0.0.1"
