from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from treetop.data import Corpus, Dataset
from treetop.errors import StoreError
from treetop.methods.base import training_memory
from treetop.methods.xr_linear import XRLinear
from treetop.sparse import canonical


def test_memory_is_estimated_from_texts_or_features(toy_train: Dataset) -> None:
    from_texts = training_memory(toy_train, trees=1, half=False)
    features = canonical(np.ones((len(toy_train), 10), np.float32))
    from_features = training_memory(
        Dataset(Corpus([], features), toy_train.labels, toy_train.space), trees=1, half=False
    )
    assert 10_000 < from_features < from_texts < 10_000_000
    assert training_memory(toy_train, trees=1, half=True) < from_texts


@pytest.mark.parametrize("damage", ["cut at a line", "renamed field"])
def test_damaged_label_names_are_refused(damage: str, toy_train: Dataset, tmp_path: Path) -> None:
    XRLinear().fit(toy_train).save(tmp_path / "m")
    path = tmp_path / "m" / "labels.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    (tmp_path / "m" / "manifest.json").unlink()  # which would notice it before
    path.write_text("".join(lines[:30]) if damage == "cut at a line" else "".join(lines).replace("label", "lbl"))
    with pytest.raises(StoreError, match=r"labels\.jsonl: the file is damaged .* restore it or train again"):
        XRLinear.load(tmp_path / "m")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["pipe", "device"])
def test_what_has_no_end_is_refused_wherever_it_is(name: str, toy_train: Dataset, tmp_path: Path) -> None:
    """Libraries open files of a model by name: a tokenizer, say."""
    XRLinear().fit(toy_train).save(tmp_path / "model")
    (tmp_path / "model" / "encoder").mkdir()
    if name == "pipe":
        os.mkfifo(tmp_path / "model" / "encoder" / name)
    else:
        (tmp_path / "model" / "encoder" / name).symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=f"{name}: is not a file; restore the folder"):
        XRLinear.load(tmp_path / "model")


@pytest.mark.parametrize("part", ["config", "training"])
def test_a_card_that_is_not_complete_is_refused(part: str, toy_train: Dataset, tmp_path: Path) -> None:
    XRLinear().fit(toy_train).save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    card = json.loads(path.read_text())
    (tmp_path / "m" / "manifest.json").unlink()
    del card[part]
    path.write_text(json.dumps(card))
    with pytest.raises(StoreError, match=r"model\.json: the card is not complete"):
        XRLinear.load(tmp_path / "m")


def test_a_model_knows_the_texts_it_learned_from(toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    half = toy_train.take(range(200))
    XRLinear().fit(half).save(tmp_path / "m")
    model = XRLinear.load(tmp_path / "m")
    known = model.trained_on(toy_train)
    assert known is not None
    assert known.tolist() == [True] * 200 + [False] * 200
    assert model.trained_on([half.corpus.texts[3].upper(), "another"]).tolist() == [True, False]  # type: ignore[union-attr]
    assert (tmp_path / "m" / "texts.safetensors").stat().st_size < 8 * 200 + 200
    for newer in ("texts.safetensors", "manifest.json"):  # as a model of an earlier version
        (tmp_path / "m" / newer).unlink()
    assert XRLinear.load(tmp_path / "m").trained_on(toy_test) is None
