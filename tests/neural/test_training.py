from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

from toy_training import WORDS, ToyNetwork, toy_examples, train, weights

from listening import Kept
from tiny_encoders import make_encoder
from treetop.errors import ConfigError, StoreError
from treetop.manifest import MANIFEST
from treetop.neural import training
from treetop.neural.checkpoint import Checkpoints
from treetop.neural.scaling import FIRST, LossScale
from treetop.neural.settings import OptimConfig
from treetop.neural.training import fine_tune
from treetop.runtime import Runtime

PROGRAM = Path(__file__).with_name("toy_training.py")
EVERYTHING = {
    "epochs": 4, "accumulate": 2, "schedule": "one_cycle", "cycle_beta1": True, "average": "ema", "ema_decay": 0.9,
    "average_every": 2, "average_from": 0.3, "progressive": [6, 10, 16], "clip": 0.5, "head_lr_factor": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder"), WORDS, layers=2)


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


def test_it_learns_and_the_seed_decides(encoder: Path) -> None:
    network, log = train(encoder, {"epochs": 8, "head_lr_factor": 5.0})
    losses = [record["loss"] for record in log.records]
    assert log.steps == 8 * 11 == len(losses)
    assert np.mean(losses[-11:]) < 0.7 * np.mean(losses[:11])
    assert all(record["head_lr"] == pytest.approx(5 * record["lr"]) for record in log.records)
    assert not network.training
    again, _ = train(encoder, {"epochs": 8, "head_lr_factor": 5.0})
    assert_same(weights(network), weights(again))


def test_training_leaves_the_callers_random_numbers_alone(encoder: Path) -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    network = ToyNetwork(encoder, 0.1)
    examples = toy_examples(network)
    torch.manual_seed(1)
    fine_tune(network, examples, OptimConfig(steps=2), Runtime(threads=1))
    assert torch.equal(torch.rand(3), expected)


def test_accumulation_equals_a_larger_batch(encoder: Path) -> None:
    large, _ = train(encoder, {"steps": 6, "batch_size": 8}, dropout=0.0)
    small, _ = train(encoder, {"steps": 6, "batch_size": 2, "accumulate": 4}, dropout=0.0)
    for name, value in weights(large).items():
        np.testing.assert_allclose(weights(small)[name], value, atol=2e-5, err_msg=name)


def test_interrupted_at_any_checkpoint_it_ends_the_same(encoder: Path, tmp_path: Path) -> None:
    whole, log = train(encoder, EVERYTHING, watch=pretend_score)
    for stop in (1, 11, 20):
        folder = tmp_path / str(stop)
        with pytest.raises(KeyboardInterrupt):
            train(encoder, {**EVERYTHING, "checkpoint_every": 1}, folder, watch=interrupting(stop))
        resumed, second = train(encoder, {**EVERYTHING, "checkpoint_every": 7}, folder, watch=pretend_score)
        assert_same(weights(whole), weights(resumed))
        assert [r.get("loss") for r in second.records] == [r.get("loss") for r in log.records]
        written = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        assert [r["step"] for r in written] == [r["step"] for r in log.records]


def test_checkpoints_come_by_the_clock(encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten minutes of steps each: a checkpoint of many gigabytes costs what it costs, but seldom."""
    now, written = itertools.count(0.0, 150.0), []
    write = Checkpoints.write

    def spy(self: Checkpoints, step: int, *state: Any) -> None:
        written.append(step)
        write(self, step, *state)

    monkeypatch.setattr(Checkpoints, "write", spy)
    monkeypatch.setattr(training, "time", SimpleNamespace(**vars(time) | {"monotonic": lambda: next(now)}))
    train(encoder, {"steps": 9}, tmp_path / "clock")
    assert written == [4, 8, 9]
    written.clear()
    train(encoder, {"steps": 9, "checkpoint_minutes": 0, "checkpoint_every": 6}, tmp_path / "steps")
    assert written == [6, 9]


def test_float16_ends_like_float32_and_its_scale_survives_an_interruption(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here without a GPU: the scale alone, on numbers of 32 bits, changes nothing but the last digits."""
    plain, _ = train(encoder, {"steps": 5}, dropout=0.0)
    monkeypatch.setattr(training, "LossScale", lambda wanted: LossScale(wanted=True))
    scaled, _ = train(encoder, {"steps": 5}, dropout=0.0)
    for name, value in weights(plain).items():
        np.testing.assert_allclose(weights(scaled)[name], value, atol=1e-5, err_msg=name)
    with pytest.raises(KeyboardInterrupt):
        train(encoder, {"steps": 9, "checkpoint_every": 1, "watch_every": 1}, tmp_path, watch=interrupting(3))
    state = json.loads(next(tmp_path.glob("step-*/state.json")).read_text())
    assert state["scale"][0] == FIRST
    assert state["scale"][1] > 0


def test_a_step_that_overflows_is_left_out(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Overflowing(LossScale):
        def unscale(self, *given: Any) -> bool:
            super().unscale(*given)
            return False

    monkeypatch.setattr(training, "LossScale", lambda wanted: Overflowing(wanted=True))
    before = weights(ToyNetwork(encoder, 0.2))
    after, log = train(encoder, {"steps": 4, "head_weight_decay": 0.0})
    assert log.steps == 4
    assert_same({name: value.copy() for name, value in before.items()}, weights(after))


def test_interrupted_before_its_first_checkpoint_it_begins_again(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(encoder, {"steps": 6, "checkpoint_every": 500, "accumulate": 2}, tmp_path, watch=interrupting(3))
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 3
    _, log = train(encoder, {"steps": 6, "checkpoint_every": 500, "accumulate": 2}, tmp_path)
    written = [json.loads(line)["step"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert written == [r["step"] for r in log.records] == [1, 2, 3, 4, 5, 6]
    _, again = train(encoder, {"steps": 6, "checkpoint_every": 500, "accumulate": 2}, tmp_path)  # there is nothing left
    assert (again.steps, again.seconds, again.cpu_seconds) == (6, log.seconds, log.cpu_seconds)
    (state,) = tmp_path.glob("step-*/state.json")
    (state.parent / "manifest.json").unlink()  # which would notice the change
    state.write_text("{}")
    with pytest.raises(ConfigError, match="holds a run with"):
        train(encoder, {"steps": 6}, tmp_path)


def pretend_score(network: ToyNetwork) -> Any:
    return lambda: float(network.scorer.weight.detach().abs().sum())


def interrupting(stop: int) -> Any:
    """Break off in the forward pass after `stop` steps of two batches, as if the program were stopped there."""

    def watch(network: ToyNetwork) -> Any:
        original, calls = network.loss, itertools.count(1)

        def loss(batch: Any) -> Any:
            if next(calls) > 2 * stop:
                raise KeyboardInterrupt
            return original(batch)

        network.loss = loss  # type: ignore[method-assign]
        return pretend_score(network)

    return watch


def test_killed_it_resumes_to_the_same_weights(encoder: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epochs": 6, "checkpoint_every": 3, "average": "swa", "average_every": 2}
    options = json.dumps(settings)
    command = [sys.executable, str(PROGRAM), str(encoder)]
    folder = tmp_path / "checkpoints"
    victim = subprocess.Popen([*command, str(tmp_path / "killed.npz"), options, str(folder)], env=environment())
    deadline = time.time() + 300
    while time.time() < deadline and victim.poll() is None:
        if len((folder / "log.jsonl").read_text().splitlines() if (folder / "log.jsonl").exists() else []) > 20:
            victim.send_signal(signal.SIGKILL)
            break
        time.sleep(0.005)
    assert victim.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed.npz").exists()
    subprocess.run([*command, str(tmp_path / "killed.npz"), options, str(folder)], env=environment(), check=True)
    undisturbed, _ = train(encoder, settings)
    assert_same(weights(undisturbed), dict(np.load(tmp_path / "killed.npz")))


def test_two_processes_divide_the_batch_of_one(encoder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"steps": 13, "weight_decay": 0.1, "head_lr_factor": 0.0, "batch_size": 6}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(PROGRAM)]
    arguments = [str(encoder), str(tmp_path / "two.npz"), json.dumps(options | {"dropout": 0.0})]
    subprocess.run([*torchrun, *arguments], env=environment(), check=True, capture_output=True, timeout=300)
    two = dict(np.load(tmp_path / "two.npz"))
    one = weights(train(encoder, options, dropout=0.0)[0])
    before = weights(ToyNetwork(encoder, 0.0))
    assert np.abs(one["scorer.weight"] - before["scorer.weight"]).max() > 1e-3
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=3e-5, err_msg=name)


def test_a_finished_run_is_not_repeated(encoder: Path, tmp_path: Path) -> None:
    first, log = train(encoder, {"epochs": 1}, tmp_path)
    second, again = train(encoder, {"epochs": 1}, tmp_path)
    assert_same(weights(first), weights(second))
    assert again.records == log.records


def test_other_settings_do_not_continue_a_run(encoder: Path, tmp_path: Path) -> None:
    train(encoder, {"epochs": 1}, tmp_path)
    with pytest.raises(ConfigError, match=r"lr=0\.001, now it is 0\.002"):
        train(encoder, {"epochs": 1, "lr": 2e-3}, tmp_path)


def test_a_checkpoint_cut_short_is_named(encoder: Path, tmp_path: Path) -> None:
    train(encoder, {"epochs": 1}, tmp_path)
    path = next(tmp_path.glob("step-*")) / "tensors.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(StoreError, match="cut short"):
        train(encoder, {"epochs": 1}, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"step": "x"},
        {"step": None},
        {"losses": 3},
        {"log": []},
        {"log": {"records": [1]}},
        {"averaged": []},
        {"settings": 1},
    ],
    ids=str,
)
def test_a_state_that_makes_no_sense_is_named(encoder: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    """Also where its manifest does not tell that it is damaged."""
    train(encoder, {"epochs": 1}, tmp_path)
    folder = next(tmp_path.glob("step-*"))
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps(state | change))
    (folder / MANIFEST).unlink()
    with pytest.raises(StoreError, match=rf"{folder.name}: this checkpoint is damaged or cut short .*; remove it"):
        train(encoder, {"epochs": 1}, tmp_path)


def scripted(scores: list[float], seen: list[Any]) -> Any:
    """A dev score that follows a script and remembers the weights it was asked about."""

    def watch(network: ToyNetwork) -> Any:
        def score() -> float:
            seen.append(network.scorer.weight.detach().clone())
            return scores[len(seen) - 1]

        return score

    return watch


def test_the_best_weights_are_kept_and_patience_ends(encoder: Path) -> None:
    seen: list[Any] = []
    network, log = train(encoder, {"epochs": 9, "patience": 2}, watch=scripted([0.1, 0.5, 0.4, 0.3, 0.9], seen))
    assert len(seen) == 4
    assert log.steps == 4 * 11
    assert (log.best_score, log.best_step) == (0.5, 22)
    assert torch.equal(network.scorer.weight, seen[1])


def test_averages(encoder: Path) -> None:
    seen: list[Any] = []
    options: dict[str, Any] = {"steps": 6, "watch_every": 1}
    train(encoder, options, watch=scripted([6, 5, 4, 3, 2, 1], seen))
    averaged, _ = train(encoder, {"steps": 6, "average": "swa", "average_from": 0.5, "average_every": 1})
    torch.testing.assert_close(averaged.scorer.weight, torch.stack(seen[3:]).mean(0))
    moving, _ = train(
        encoder, {"steps": 6, "average": "ema", "average_from": 0.5, "average_every": 1, "ema_decay": 0.75}
    )
    expected = 0.75 * (0.75 * seen[3] + 0.25 * seen[4]) + 0.25 * seen[5]
    torch.testing.assert_close(moving.scorer.weight, expected)


def test_a_loss_that_is_not_a_number_is_reported(encoder: Path) -> None:
    network = ToyNetwork(encoder, 0.0)
    examples = toy_examples(network)
    with torch.no_grad():
        network.scorer.weight.fill_(torch.nan)
    with pytest.raises(ConfigError, match="lower lr"):
        fine_tune(network, examples, OptimConfig(steps=1), Runtime(threads=1))


def test_bfloat16_falls_back_or_works(encoder: Path) -> None:
    from treetop.text.precision import supports_bfloat16

    network = ToyNetwork(encoder, 0.0)
    examples, runtime = toy_examples(network), Runtime(threads=1, precision="bfloat16")
    if supports_bfloat16("cpu"):
        assert np.isfinite(fine_tune(network, examples, OptimConfig(steps=2, log_every=1), runtime).records[0]["loss"])
    else:
        with pytest.warns(UserWarning, match="float32"):
            fine_tune(network, examples, OptimConfig(steps=2), runtime)
    with pytest.raises(ConfigError, match="int3"):
        fine_tune(network, examples, OptimConfig(steps=2), Runtime(precision="int3"))


def test_records_tell_the_cpu_seconds_so_far(encoder: Path) -> None:
    network = ToyNetwork(encoder, 0.0)
    log = fine_tune(network, toy_examples(network), OptimConfig(steps=3, log_every=1), Runtime(threads=1))
    spent = [record["cpu_seconds"] for record in log.records]
    assert 0 < spent[0] < spent[1] < spent[2] <= log.cpu_seconds


def test_progress_shows_loss_and_speed_and_counts_what_an_earlier_run_did(encoder: Path, tmp_path: Path) -> None:
    for done, steps in ((0, 2), (2, 2)):
        network, told = ToyNetwork(encoder, 0.0), Kept()
        runtime = Runtime(threads=1, progress=told)
        fine_tune(network, toy_examples(network), OptimConfig(steps=2), runtime, checkpoint=tmp_path, title="tune 3")
        (leg,) = told.ended
        assert (leg.title, leg.before, leg.steps, leg.total) == ("tune 3", done, steps, 2)
        assert done or "texts/s" in leg.note
