from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tiny_methods import light
from treetop.data import Dataset
from treetop.errors import StoreError
from treetop.methods import load
from treetop.methods.heads import Heads, affine_shapes, heads_part, level_shapes
from treetop.neural.scorer import NodeScorer
from treetop.runtime import Runtime
from treetop.store import Folder

PART = heads_part(lambda model: level_shapes("scorer", model.nodes, 3, bottleneck=2))


def network() -> torch.nn.Module:
    parts = torch.nn.ModuleDict({"scorer": NodeScorer(5, 3, bottleneck=2), "encoder": torch.nn.Linear(3, 3)})
    return parts.eval()


def test_a_level_gives_the_margins_of_its_scorer() -> None:
    made, states = network(), np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    heads = Heads.of(made)
    assert not any(name.startswith("encoder.") for name in heads.arrays)
    scorer = made.get_submodule("scorer")
    with torch.no_grad():
        expected = scorer(torch.from_numpy(states)).numpy()
    found = heads.level("scorer").best(states, 5, Runtime(threads=1)).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_heads_survive_and_misfits_are_noticed(tmp_path: Path) -> None:
    heads = Heads.of(network())
    with Folder.create(tmp_path / "model") as folder:
        PART.write(heads, folder)
    opened = PART.read(SimpleNamespace(nodes=5), Folder.open(tmp_path / "model"))
    for name, array in heads.arrays.items():
        np.testing.assert_array_equal(opened.arrays[name], array)
    with pytest.raises(StoreError, match=r"scorers\.safetensors: the file does not fit .*scorer\.bias"):
        PART.read(SimpleNamespace(nodes=6), Folder.open(tmp_path / "model"))
    more = heads_part(lambda _: affine_shapes("scorer.bottleneck", 2, 3))
    with pytest.raises(StoreError, match="does not fit"):
        more.read(SimpleNamespace(), Folder.open(tmp_path / "model"))


def test_older_folders_hold_the_encoder_of_recall_among_the_heads(
    toy_train: Dataset, toy_test: Dataset, tmp_path: Path
) -> None:
    model: Any = light(mode="groups", negatives="static-tuned")(Runtime(threads=1)).fit(toy_train)
    model.save(tmp_path / "new")
    first = model.recall_reader.text_encoder()
    weights = {f"first_encoder.{name}": value.numpy() for name, value in first.state_dict().items()}
    del model.recall_reader
    with Folder.create(tmp_path / "old") as folder:
        model.recall_reader = None
        model.heads.arrays |= weights
        model._write(folder)
    new, old = (load(tmp_path / name, runtime=Runtime(threads=1)).predict(toy_test) for name in ("new", "old"))
    np.testing.assert_array_equal(new.labels, old.labels)
    np.testing.assert_allclose(new.scores, old.scores, rtol=1e-5)
