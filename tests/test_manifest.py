"""The manifest of a folder: what was written is recognised, what was changed is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treetop import manifest
from treetop.errors import StoreError
from treetop.store import Folder

LARGE = 3 * manifest.SMALL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Folder.create(tmp_path / "model") as made:
        made.write_json("model.json", {"a": 1})
        made.sub("part").write_lines("labels.jsonl", ["naïve", "ß"])
        made.write_tensors("weights.safetensors", {"w": np.random.default_rng(0).integers(0, 255, LARGE, np.uint8)})
        (made.path / "empty").touch()
        (made.path / "größe 😀").write_bytes(b"x" * 100)
    return tmp_path / "model"


def flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))


def test_an_untouched_folder_passes(folder: Path) -> None:
    Folder.open(folder)
    found = Folder.open(folder).verify()
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != manifest.MANIFEST]
    assert (found.files, found.size, found.unlisted) == (5, sum(sizes), ())


def test_a_manifest_does_not_list_itself(folder: Path) -> None:
    manifest.seal(folder)
    manifest.seal(folder)
    assert Folder.open(folder).verify().files == 5


def test_the_digests_are_those_of_other_tools(folder: Path) -> None:
    entries = json.loads((folder / "manifest.json").read_text())["files"]
    assert entries["empty"]["sha256"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert entries["part/labels.jsonl"]["size"] == len('"naïve"\n"ß"\n'.encode())


@pytest.mark.parametrize("name", ["model.json", "part/labels.jsonl", "größe 😀"])
def test_any_flipped_byte_of_a_small_file_is_noticed_at_once(folder: Path, name: str) -> None:
    for place in range((folder / name).stat().st_size):
        flip(folder / name, place)
        with pytest.raises(StoreError, match=rf"{name}: the file is damaged \(is not what it was"):
            Folder.open(folder)
        flip(folder / name, place)
    Folder.open(folder)


@pytest.mark.parametrize("place", [0, LARGE // 2 + 1, LARGE - 1])
def test_a_flipped_byte_of_a_large_file_is_noticed_by_verify(folder: Path, place: int) -> None:
    flip(folder / "weights.safetensors", place + 128)  # behind the header
    with pytest.raises(StoreError, match=r"weights\.safetensors: .*is not what it was"):
        Folder(folder).verify()


def test_large_damage_of_a_large_file_is_noticed_at_once(folder: Path) -> None:
    with (folder / "weights.safetensors").open("r+b") as file:
        file.seek(LARGE // 3)
        file.write(bytes(LARGE // manifest.PAGES + manifest.PAGE))
    with pytest.raises(StoreError, match=r"weights\.safetensors: .*is not what it was"):
        Folder.open(folder)


def test_a_file_cut_in_place_or_grown_is_noticed_at_once(folder: Path) -> None:
    path = folder / "weights.safetensors"
    size = path.stat().st_size
    for other in (size - 1, size + 1, 0):
        os.truncate(path, other)
        with pytest.raises(StoreError, match=f"has {other:,} bytes, and had {size:,}"):
            Folder.open(folder)


def test_a_missing_file_is_named_and_an_additional_one_is_told(folder: Path) -> None:
    (folder / "tensorboard").mkdir()
    (folder / "tensorboard" / "curves").touch()
    assert Folder.open(folder).verify().unlisted == ("tensorboard/curves",)
    (folder / "part" / "labels.jsonl").unlink()
    with pytest.raises(StoreError, match=r"labels\.jsonl: the file is missing"):
        Folder.open(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder: Path) -> None:
    (folder / "model.json").unlink()
    os.mkfifo(folder / "model.json")
    with pytest.raises(StoreError, match=r"model\.json: is not a file"):
        Folder.open(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_the_manifest_is_not_waited_for(folder: Path) -> None:
    (folder / manifest.MANIFEST).unlink()
    os.mkfifo(folder / manifest.MANIFEST)
    with pytest.raises(StoreError, match=r"manifest\.json: the file is damaged \(it is not a file\)"):
        Folder.open(folder)


def test_a_folder_without_manifest_is_opened_but_cannot_be_verified(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    flip(folder / "model.json", 3)
    with pytest.raises(StoreError, match="has no manifest"):
        Folder.open(folder).verify()


def _entry(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda value: {**value, "files": {"model.json": {**value["files"]["model.json"], **changes}}}


DAMAGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a list": lambda _: [],
    "a word": lambda _: "manifest",
    "no files": lambda value: {"format": value["format"]},
    "files in a list": lambda value: {**value, "files": ["model.json"]},
    "another format": lambda value: {**value, "format": 99},
    "an entry that is a number": lambda value: {**value, "files": {"model.json": 3}},
    "an entry without digest": lambda value: {**value, "files": {"model.json": {"size": 3}}},
    "a file elsewhere": lambda value: {**value, "files": {"../model.json": value["files"]["model.json"]}},
    "a file at the root": lambda value: {**value, "files": {"/etc/hostname": value["files"]["model.json"]}},
    "a folder": lambda value: {**value, "files": {"part": value["files"]["model.json"]}},
    "a size in words": _entry(size="eight"),
    "a digest that is a number": _entry(sha256=8),
    "a sample that is a list": _entry(sample=[]),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_manifest_is_one_clear_error(folder: Path, damage: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    for look in (lambda: Folder.open(folder), Folder(folder).verify):
        with pytest.raises(StoreError):
            look()


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "\x00"])
def test_a_manifest_that_is_no_json(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content)
    with pytest.raises(StoreError, match=r"manifest\.json: the file is damaged"):
        Folder.open(folder)


def test_a_page_for_people_may_change_or_go(tmp_path: Path) -> None:
    with Folder.create(tmp_path / "model") as made:
        made.write_json("model.json", {})
        made.write_text("README.md", "as it was")
        made.write_text("part/README.md", "of a part")
    path = tmp_path / "model"
    assert manifest.listed(path) == ["README.md", "model.json", "part/README.md"]
    assert Folder.open(path).verify().edited == ()
    (path / "README.md").write_text("better")
    assert Folder.open(path).verify().edited == ("README.md",)
    (path / "README.md").unlink()
    assert Folder.open(path).verify().edited == ("README.md",)
    (path / "part" / "README.md").write_text("better")
    with pytest.raises(StoreError, match="part/README"):
        Folder.open(path)
