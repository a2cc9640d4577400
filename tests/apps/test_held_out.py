from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.held_out import held_out, other_splits
from treetop.data import Dataset
from treetop.errors import ConfigError


def test_a_share_is_held_out_and_copies_stay_together(toy_train: Dataset) -> None:
    twice = toy_train.take([*range(400), *range(400)])
    train, test = held_out(twice, 0.25, seed=1)
    assert test is not None
    assert (len(train), len(test)) == (600, 200)
    assert not set(train.corpus.texts) & set(test.corpus.texts)
    assert held_out(twice, None, seed=1) == (twice, None)


def test_the_other_splits_of_a_folder_and_shares_that_cannot_be(tmp_path: Path) -> None:
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text('{"text": "a", "labels": ["x"]}\n')
    assert other_splits(tmp_path, 0.1) == ("dev",)
    assert other_splits(tmp_path / "train.jsonl", None) == ()
    for share in (0.0, 1.0, 10.0):
        with pytest.raises(ConfigError, match=f"--test-share is {share}"):
            other_splits(tmp_path, share)
    (tmp_path / "test.jsonl").write_text('{"text": "b", "labels": ["x"]}\n')
    assert other_splits(tmp_path, None) == ("dev", "test")
    with pytest.raises(ConfigError, match="has test texts already"):
        other_splits(tmp_path, 0.1)
