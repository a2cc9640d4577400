from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from treetop.errors import ConfigError, StoreError
from treetop.neural.checkpoint import Checkpoints, claim, optimiser_state, restore_optimiser
from treetop.store import Folder


def test_the_newest_is_found_and_older_ones_go(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "run")
    assert kept.newest() is None
    for step in (3, 10, 200):
        kept.write(step, {"step": step}, {"w": torch.full((2, 2), float(step)), "scalar": torch.tensor(7.0)})
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["step-000000200"]
    found = kept.newest()
    assert found is not None
    state, tensors = found
    assert state == {"step": 200}
    assert tensors["w"].tolist() == [[200.0, 200.0], [200.0, 200.0]]
    assert tensors["scalar"].shape == ()
    tensors["w"].zero_()  # a copy: what is on disk stays


def test_a_draft_left_by_a_kill_is_not_a_checkpoint(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    kept.write(1, {"step": 1}, {"w": torch.zeros(1)})
    (tmp_path / ".step-000000002.abc.partial").mkdir()
    found = kept.newest()
    assert found is not None
    assert found[0]["step"] == 1


@pytest.mark.parametrize("name", ["tensors.safetensors", "state.json"])
def test_one_that_was_cut_short_is_named(tmp_path: Path, name: str) -> None:
    kept = Checkpoints(tmp_path)
    kept.write(1, {"step": 1, "log": "x" * 100}, {"w": torch.zeros(1000)})
    path = tmp_path / "step-000000001" / name
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(StoreError, match=r"step-000000001: this checkpoint is damaged or cut short .*; remove it"):
        kept.newest()
    path.unlink()
    with pytest.raises(StoreError, match="damaged or cut short"):
        kept.newest()


def test_one_with_other_tensors_is_named(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    kept.write(1, {"step": 1}, {"w|step": torch.zeros(1), "w|mean": torch.zeros(3)})
    folder = tmp_path / "step-000000001"
    (folder / "manifest.json").unlink()
    Folder(folder).write_tensors("tensors.safetensors", {"w|step": np.zeros(1)})
    with pytest.raises(StoreError, match=r"damaged .*other tensors than were written"):
        kept.newest()


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = Checkpoints(None)
    kept.write(1, {}, {})
    kept.log({"step": 1})
    assert kept.newest() is None
    assert not list(tmp_path.iterdir())


def test_the_log_is_rewound(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    for step in range(4):
        kept.log({"step": step})
    kept.rewind_log([{"step": 0}, {"step": 1}])
    kept.log({"step": 2})
    assert (tmp_path / "log.jsonl").read_text().count("\n") == 3


def test_other_settings_are_refused(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    kept.check_same({"lr": 1, "old": 2}, {"lr": 1})
    with pytest.raises(ConfigError, match="lr=1, now it is 2"):
        kept.check_same({"lr": 1}, {"lr": 2})


def test_optimisers_survive() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    first = torch.optim.AdamW([weight], lr=0.1)
    weight.grad = torch.ones(3)
    first.step()
    second = torch.optim.AdamW([weight], lr=0.1)
    restore_optimiser(second, {"w": weight}, optimiser_state(first, {weight: "w"}))
    for key, value in first.state[weight].items():
        assert torch.equal(second.state[weight][key], value)


def test_a_folder_belongs_to_the_run_that_claimed_it(tmp_path: Path) -> None:
    claim(tmp_path / "run", {"seed": 1, "config": {"lr": 0.1, "widths": (2, 4), "log_every": 5}})
    claim(tmp_path / "run", {"seed": 1, "config": {"lr": 0.1, "widths": (2, 4), "log_every": 9}})
    with pytest.raises(ConfigError, match=r"config\.lr=0\.1, now it is 0\.2"):
        claim(tmp_path / "run", {"seed": 1, "config": {"lr": 0.2, "widths": (2, 4)}})


@pytest.mark.parametrize("content", ["[]", "1", "{", "null"])
def test_a_claim_that_is_damaged_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(StoreError, match=r"run\.json"):
        claim(tmp_path, {"seed": 0})
