from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from treetop.errors import ConfigError
from treetop.runtime import Runtime
from treetop.text import precision


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = precision.supports_bfloat16
    asked.cache_clear()
    yield
    asked.cache_clear()


def test_an_illegal_instruction_kills_only_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "_TRIAL", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert not precision.supports_bfloat16("cpu")
    with pytest.warns(UserWarning, match="computing in float32"), precision.autocast(Runtime(precision="bfloat16")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_where_the_trial_succeeds_bfloat16_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "_TRIAL", "pass")
    assert precision.supports_bfloat16("cpu")
    assert not precision.supports_bfloat16("meta")
    monkeypatch.setattr(precision, "_TRIAL", "import os; os.abort()")
    precision.supports_bfloat16.cache_clear()  # as in another process, which knows from before
    assert precision.supports_bfloat16("cpu")


def test_float32_needs_no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "supports_bfloat16", None)
    with precision.autocast(Runtime()):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_unknown_formats() -> None:
    with pytest.raises(ConfigError, match="int3"):
        precision.autocast(Runtime(precision="int3"))


def test_float16_is_for_gpus() -> None:
    with pytest.raises(ConfigError, match="precision is 'float16', which is for GPUs, not for a cpu"):
        precision.autocast(Runtime(precision="float16"))
