from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tiny_methods import NEURAL_MAKERS, OPTIM, cascade, light, matching, recursive
from treetop.data import Dataset
from treetop.errors import ConfigError, StoreError
from treetop.methods import Method
from treetop.methods.fine_tuned import FineTuned
from treetop.methods.lightxml import LightXML
from treetop.methods.tuning.lightxml import Network
from treetop.neural.checkpoint import Checkpoints
from treetop.neural.examples import Batch, Examples
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder, size_of


@pytest.mark.parametrize("name", NEURAL_MAKERS)
def test_memory_is_estimated_without_the_weights(name: str, toy_train: Dataset) -> None:
    model = NEURAL_MAKERS[name](Runtime())
    assert isinstance(model, FineTuned)
    size = size_of(model.config.encoder)
    assert size.parameters == sum(p.numel() for p in TextEncoder.load(model.config.encoder).parameters())
    needed = model.memory_estimate(toy_train)
    assert needed > 16 * size.parameters
    more = replace(model.config, optim=replace(model.config.optim, batch_size=64))
    assert type(model)(more).memory_estimate(toy_train) > needed


def test_a_checkpoint_is_of_one_run(toy_train: Dataset, tmp_path: Path) -> None:
    def model(seed: int = 0, **options: Any) -> LightXML:
        made = light(optim=replace(OPTIM, epochs=1, **options))(Runtime())
        assert isinstance(made, LightXML)
        return LightXML(made.config, runtime=Runtime(threads=1, seed=seed), checkpoint=tmp_path / "run")

    model().fit(toy_train)
    model(log_every=3).fit(toy_train)  # which changes nothing of what is learned
    with pytest.raises(ConfigError, match=r"config\.optim\.lr=0\.006, now it is 0\.001; continue with the same"):
        model(lr=0.001).fit(toy_train)
    with pytest.raises(ConfigError, match="seed=0, now it is 1"):
        model(seed=1).fit(toy_train)
    with pytest.raises(ConfigError, match=r"data\.texts=400, now it is 100"):
        model().fit(toy_train.take(list(range(100))))
    with pytest.raises(ConfigError, match=r"data\.digest=\w+, now it is \w+; continue with the same settings and data"):
        model().fit(toy_train.take(list(range(399, -1, -1))))  # as many texts, labels and tags


def test_a_run_that_could_not_begin_leaves_nothing_to_resume(
    toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = light(optim=replace(OPTIM, epochs=1))(Runtime())
    assert isinstance(made, LightXML)
    broken = shutil.copytree(made.config.encoder.name, tmp_path / "encoder")
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    config = replace(made.config, encoder=replace(made.config.encoder, name=str(broken)))
    with pytest.raises(ConfigError, match="cannot be loaded"):
        LightXML(config, runtime=Runtime(threads=1), checkpoint=tmp_path / "run").fit(toy_train)
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(Network, "loss", out_of_memory)
    with pytest.raises(MemoryError):
        LightXML(made.config, runtime=Runtime(threads=1), checkpoint=tmp_path / "run").fit(toy_train)
    assert not (tmp_path / "run").exists()


def out_of_memory(*_arguments: Any) -> Any:
    raise MemoryError


@pytest.mark.parametrize("name", NEURAL_MAKERS)
@pytest.mark.parametrize("option", ["patience", "watch_every"])
def test_a_dev_score_that_nobody_takes_is_refused(name: str, option: str) -> None:
    config = NEURAL_MAKERS[name](Runtime()).config
    changed: dict[str, Any] = {option: 3}
    with pytest.raises(ConfigError, match=f"{option} is 3, but no texts are held out"):
        replace(config, optim=replace(OPTIM, **changed))


def test_a_device_that_is_not_here_is_refused() -> None:
    with pytest.raises(ConfigError, match="device is 'cuda:77'"):
        light()(Runtime(device="cuda:77"))


def test_a_place_where_nothing_can_be_written_is_named(toy_train: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    config = light()(Runtime()).config
    with pytest.raises(StoreError, match=r"file/run: checkpoints cannot be kept here \(.*\); choose another place"):
        LightXML(config, runtime=Runtime(threads=1), checkpoint=tmp_path / "file" / "run").fit(toy_train)


def test_a_model_with_parts_missing_or_of_another_model_is_refused(toy_train: Dataset, tmp_path: Path) -> None:
    untrained = replace(OPTIM, epochs=0)
    for name, options in (("flat", {}), ("groups", {"mode": "groups"})):
        light(optim=untrained, **options)(Runtime(threads=1)).fit(toy_train).save(tmp_path / name)
        (tmp_path / name / "manifest.json").unlink()  # as in models of 0.1: with it, any change is noticed at once
    shutil.copy(tmp_path / "groups" / "scorers.safetensors", tmp_path / "flat")
    with pytest.raises(StoreError, match=r"scorers\.safetensors: the file does not fit the rest of the model"):
        LightXML.load(tmp_path / "flat")
    for path in (tmp_path / "groups" / "encoder").glob("*.safetensors"):
        path.unlink()
    with pytest.raises(StoreError, match="groups/encoder: an encoder folder without weights"):
        LightXML.load(tmp_path / "groups")
    shutil.rmtree(tmp_path / "groups" / "encoder")
    with pytest.raises(StoreError, match="groups/encoder: the folder of the encoder is missing"):
        LightXML.load(tmp_path / "groups")


def test_texts_in_a_script_the_encoder_does_not_know(tmp_path: Path) -> None:
    model = light()(Runtime())
    with pytest.raises(ConfigError, match=r"100% of the texts' tokens are unknown .* check the text column"):
        model.fit(["ภาษาไทย", "日本語", "текст"] * 4, [["a"], ["b"], ["c"]] * 4)


@pytest.mark.parametrize("name", NEURAL_MAKERS)
def test_frozen_layers_can_run_once(
    name: str, toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []
    original = Examples.batch

    def batch(self: Examples, *arguments: Any) -> Batch:
        made = original(self, *arguments)
        kept.append(made.tokens.states is not None)
        return made

    monkeypatch.setattr(Examples, "batch", batch)
    losses = []
    for keep in (False, True):
        kept.clear()
        config = NEURAL_MAKERS[name](Runtime()).config
        encoder = replace(config.encoder, freeze=1, keep_frozen=keep)
        config = replace(config, encoder=encoder, optim=replace(OPTIM, lr=1e-4, epochs=1, log_every=1))
        make: Any = type(NEURAL_MAKERS[name](Runtime()))
        model = make(config, runtime=Runtime(threads=1), checkpoint=tmp_path / str(keep)).fit(toy_train)
        assert isinstance(model, FineTuned)
        assert not list((tmp_path / str(keep)).glob("frozen-*"))  # the training is over
        assert all(made == keep for made in kept)
        losses.append([record["loss"] for record in model.logs[0].records])
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


MAKERS: dict[str, Callable[..., Callable[[Runtime], Method[Any]]]] = {
    "lightxml": light, "cascadexml": cascade, "xr-transformer": recursive, "x-transformer": matching
}  # fmt: skip
TIMES = ("speed", "cpu_seconds", "wall_seconds", "peak_rss_mib")


@pytest.mark.parametrize("name", MAKERS)
def test_a_resumed_run_equals_an_uninterrupted_one_in_every_byte(
    name: str, toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifests tell; only what holds the times of the training may differ, and in nothing else."""
    made = MAKERS[name](optim=replace(OPTIM, steps=5, checkpoint_every=2))(Runtime(threads=1))

    def fit(kept: str) -> Path:
        model: Any = type(made)(made.config, runtime=Runtime(threads=1), checkpoint=tmp_path / f"{kept}.run")
        model.fit(toy_train).save(tmp_path / kept)
        return tmp_path / kept

    whole = fit("whole")
    write, left = Checkpoints.write, 2

    def stop(self: Checkpoints, *arguments: Any) -> None:
        nonlocal left
        write(self, *arguments)
        left -= 1
        if not left:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoints, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        fit("resumed")
    monkeypatch.undo()
    resumed = fit("resumed")
    files = [json.loads((folder / "manifest.json").read_text())["files"] for folder in (whole, resumed)]
    assert files[0].keys() == files[1].keys()
    assert {file for file in files[0] if files[0][file] != files[1][file]} <= {"model.json", "training.jsonl"}
    assert _without_times(whole) == _without_times(resumed)


def _without_times(folder: Path) -> Any:
    def bare(value: Any) -> Any:
        return {key: bare(one) for key, one in value.items() if key not in TIMES} if isinstance(value, dict) else value

    card, log = folder / "model.json", folder / "training.jsonl"
    return [bare(json.loads(line)) for line in (card.read_text(), *log.read_text().splitlines())]
