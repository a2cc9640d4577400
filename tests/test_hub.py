"""Models on a Hub: a small one of ours, spoken to by the real client over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

import hub_stand_in
import treetop
from hub_stand_in import TOKEN, Hub
from treetop import hub
from treetop.data import Dataset
from treetop.errors import ConfigError, StoreError
from treetop.store import Folder


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with hub_stand_in.running() as found:
        yield found


@pytest.fixture
def there(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The Hub as the client finds it, with an empty cache and its owner logged in."""
    from huggingface_hub import constants

    server.repositories.clear()
    server.asked.clear()
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # its storage is no part of the Hub that stands here
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    return server


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset) -> Path:
    path = tmp_path_factory.mktemp("pushed") / "model"
    treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train.take(range(100))).save(path)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_pulled_is_what_was_pushed(there: Hub, model: Path, tmp_path: Path, toy_test: Dataset) -> None:
    address = hub.push(model, "owner/laws")
    assert address.startswith(f"{there.address}/owner/laws/commit/")
    assert there.files("owner/laws") == contents(model)
    assert hub.pull("hf:owner/laws", tmp_path / "pulled") == tmp_path / "pulled"
    assert contents(tmp_path / "pulled") == contents(model)
    loaded = treetop.load("hf:owner/laws")
    assert loaded.predict(toy_test, 5) == treetop.load(model).predict(toy_test, 5)


def test_a_second_push_replaces_the_first(there: Hub, model: Path, tmp_path: Path, toy_train: Dataset) -> None:
    calibrated = treetop.load(model).calibrate(toy_train.take(range(200, 400)))
    calibrated.save(tmp_path / "calibrated")
    hub.push(tmp_path / "calibrated", "owner/laws")
    first = next(iter(there.repositories["owner/laws"].commits))
    hub.push(model, "owner/laws")
    assert there.files("owner/laws") == contents(model)
    hub.pull(f"owner/laws@{first}", tmp_path / "before")
    assert contents(tmp_path / "before") == contents(tmp_path / "calibrated")


def test_a_model_is_fetched_once(there: Hub, model: Path) -> None:
    hub.push(model, "owner/laws")
    treetop.load("hf:owner/laws")
    there.asked.clear()
    treetop.load("hf:owner/laws")
    assert not [one for one in there.asked if "safetensors" in one]


def test_what_the_manifest_does_not_list_is_neither_pushed_nor_pulled(there: Hub, model: Path, tmp_path: Path) -> None:
    treetop.load(model).save(tmp_path / "mine")
    (tmp_path / "mine" / "notes [1].txt").write_text("secret")
    hub.push(tmp_path / "mine", "owner/laws")
    assert set(there.files("owner/laws")) == set(contents(model))
    there.files("owner/laws")["evil.py"] = b"raise SystemExit"
    hub.pull("owner/laws", tmp_path / "pulled")
    assert set(contents(tmp_path / "pulled")) == set(contents(model))
    assert not any("evil" in one for one in there.asked)


def test_a_page_that_was_edited_on_the_hub_is_no_damage(there: Hub, model: Path, tmp_path: Path) -> None:
    hub.push(model, "owner/laws")
    there.files("owner/laws")["README.md"] += b"\nThank you!\n"
    hub.pull("owner/laws", tmp_path / "pulled")
    assert (tmp_path / "pulled" / "README.md").read_text().endswith("Thank you!\n")
    assert Folder.open(tmp_path / "pulled").verify().edited == ("README.md",)
    treetop.load("hf:owner/laws")


def test_a_changed_file_is_refused_and_nothing_is_left(there: Hub, model: Path, tmp_path: Path) -> None:
    hub.push(model, "owner/laws")
    files = there.files("owner/laws")
    weights = next(name for name in files if name.endswith("level-1.safetensors"))
    content = bytearray(files[weights])
    content[-1] ^= 1
    files[weights] = bytes(content)
    with pytest.raises(StoreError, match="is not what it was"):
        hub.pull("owner/laws", tmp_path / "pulled")
    with pytest.raises(StoreError, match="is not what it was"):
        treetop.load("hf:owner/laws")
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_damaged_model_is_not_pushed(there: Hub, model: Path, tmp_path: Path) -> None:
    treetop.load(model).save(tmp_path / "mine")
    (tmp_path / "mine" / "labels.jsonl").write_text("{}\n")
    with pytest.raises(StoreError, match="damaged"):
        hub.push(tmp_path / "mine", "owner/laws")
    assert there.repositories == {}


def test_names_that_lead_out_of_the_folder_are_refused(there: Hub, model: Path, tmp_path: Path) -> None:
    hub.push(model, "owner/laws")
    files = there.files("owner/laws")
    listing = json.loads(files["manifest.json"])
    listing["files"]["../../evil"] = {"size": 1, "sha256": "0"}
    files["manifest.json"] = json.dumps(listing).encode()
    with pytest.raises(StoreError, match="an impossible entry"):
        hub.pull("owner/laws", tmp_path / "pulled")


def test_mistakes_are_one_line_that_says_what_to_do(
    there: Hub, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("laws", "a/b/c", "../x", "hf:", "owner/laws@", "owner/la ws"):
        with pytest.raises(ConfigError, match="user/name"):
            hub.pull(name, tmp_path / "pulled")
    with pytest.raises(StoreError, match="no such repository"):
        hub.pull("owner/none", tmp_path / "pulled")
    hub.push(model, "owner/laws", private=True)
    with pytest.raises(StoreError, match="no such revision"):
        hub.pull("owner/laws@none", tmp_path / "pulled")
    there.files("owner/laws").pop("manifest.json")
    with pytest.raises(StoreError, match="not a model of treetop"):
        treetop.load("hf:owner/laws")
    monkeypatch.setenv("HF_TOKEN", "hf_of-somebody")
    with pytest.raises(StoreError, match="or it is private"):
        hub.pull("owner/laws", tmp_path / "pulled")
    with pytest.raises(StoreError, match="log in with an account that may"):
        hub.push(model, "owner/other")
    assert not (tmp_path / "pulled").exists()


def test_without_network_the_cache_answers(there: Hub, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    hub.push(model, "owner/laws")
    treetop.load("hf:owner/laws")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert treetop.load("hf:owner/laws").training["texts"] == 100
    with pytest.raises(StoreError, match="not in the cache"):
        treetop.load("hf:owner/other")
