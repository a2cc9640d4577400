from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from treetop.errors import StoreError
from treetop.labels import LabelTree
from treetop.methods.parts import TFIDF_IF_TEXTS, TREE, Part, read_parts, write_parts
from treetop.store import Folder
from treetop.text import Tfidf, TfidfConfig


def test_parts_are_read_in_order_and_may_look_at_those_before(tmp_path: Path) -> None:
    name = Part("name", lambda name, folder: folder.write_json("name.json", name), lambda _, folder: "anna")
    twice = Part("twice", lambda _, __: None, lambda model, _: model.name * 2)
    model: Any = SimpleNamespace(name="anna", twice="")
    write_parts(model, (name, twice), Folder(tmp_path))
    other: Any = SimpleNamespace()
    read_parts(other, (name, twice), Folder(tmp_path))
    assert (other.name, other.twice) == ("anna", "annaanna")


def test_a_part_that_may_be_left_out(tmp_path: Path) -> None:
    tree = LabelTree.flat(3)
    write_parts(SimpleNamespace(tree=tree, tfidf=None), (TREE, TFIDF_IF_TEXTS), Folder(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["tree.safetensors"]
    model: Any = SimpleNamespace()
    read_parts(model, (TREE, TFIDF_IF_TEXTS), Folder(tmp_path))
    assert model.tree == tree
    assert model.tfidf is None
    with pytest.raises(StoreError, match=r"tree\.safetensors: the file is missing"):
        read_parts(model, (TREE,), Folder(tmp_path / "elsewhere"))
    tfidf = Tfidf(TfidfConfig())
    tfidf.fit_transform(["red apple"])
    write_parts(SimpleNamespace(tree=tree, tfidf=tfidf), (TREE, TFIDF_IF_TEXTS), Folder(tmp_path))
    again: Any = SimpleNamespace()
    read_parts(again, (TREE, TFIDF_IF_TEXTS), Folder(tmp_path))
    assert again.tfidf.width == 2
