from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from treetop.apps.calibrating import Calibrating
from treetop.apps.training import check_memory, checkpoint_folder, finish, learn, make_model, make_plan
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods import Method, load
from treetop.methods.one_vs_all import OneVsAllConfig
from treetop.progress import Plan
from treetop.runtime import Runtime


def test_a_linear_method_leaves_nothing_beside_its_model(toy_train: Dataset, tmp_path: Path) -> None:
    model = make_model("one-vs-all", OneVsAllConfig(), tmp_path / "m", Runtime(), resume=False).fit(toy_train)
    (tmp_path / "m.checkpoint").mkdir()  # not ours: it is left alone
    finish(model, tmp_path / "m")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.checkpoint"]
    with pytest.raises(ConfigError, match="nothing to resume"):
        make_model("one-vs-all", OneVsAllConfig(), tmp_path / "m", Runtime(), resume=True)


def test_the_folder_is_beside_the_model_whatever_its_name() -> None:
    assert checkpoint_folder(Path("a/model.v2")) == Path("a/model.v2.checkpoint")


def test_an_interrupted_training_is_not_written_over(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import light

    config = light()(Runtime()).config
    checkpoint_folder(tmp_path / "m").mkdir()
    with pytest.raises(ConfigError, match="--resume"):
        make_model("lightxml", config, tmp_path / "m", Runtime(), resume=False)
    model = make_model("lightxml", config, tmp_path / "m", Runtime(), resume=True)
    (checkpoint_folder(tmp_path / "m") / ".run.json.x1.partial").touch()  # of a training that was killed at its start
    (checkpoint_folder(tmp_path / "m") / "thesis.txt").write_text("words")  # finishing would remove it
    with pytest.raises(ConfigError, match="not a checkpoint of treetop"):
        make_model("lightxml", config, tmp_path / "m", Runtime(), resume=True)
    assert model.checkpoint == tmp_path / "m.checkpoint"  # type: ignore[attr-defined]


def test_the_log_of_a_training_stays_with_the_model(toy_train: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import OPTIM, light

    config = light(optim=replace(OPTIM, epochs=1, log_every=5))(Runtime()).config
    model = make_model("lightxml", config, tmp_path / "m", Runtime(threads=1), resume=False).fit(toy_train)
    finish(model, tmp_path / "m")
    rows = [json.loads(line) for line in (tmp_path / "m" / "training.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [5, 10, 15, 20, 25]
    assert {"run", "loss", "lr", "norm", "speed"} <= rows[0].keys()
    assert not checkpoint_folder(tmp_path / "m").exists()
    load(tmp_path / "m").save(tmp_path / "copy")
    assert (tmp_path / "copy" / "training.jsonl").read_text() == (tmp_path / "m" / "training.jsonl").read_text()
    if importlib.util.find_spec("tensorboard") is not None:
        assert list((tmp_path / "m" / "tensorboard").glob("*/events.*"))


def test_what_cannot_fit_is_refused_with_a_remedy(toy_train: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import OPTIM, light

    def model(batch: int, tokens: int = 16) -> Method[Any]:
        config = light(optim=replace(OPTIM, batch_size=batch))(Runtime()).config
        config = replace(config, encoder=replace(config.encoder, max_tokens=tokens))
        return make_model("lightxml", config, tmp_path / "m", Runtime(), resume=False)

    make_plan(model(16), toy_train, quiet=True)
    make_plan(model(10**9), toy_train, quiet=True)  # there are only 400 texts
    with pytest.raises(ConfigError, match=r"needs about [\d,.]+ GiB of memory, .* available\. Lower optim\.batch_size"):
        make_plan(model(10**9, tokens=10**6), toy_train, quiet=True)
    linear = make_model("one-vs-all", OneVsAllConfig(), tmp_path / "m", Runtime(), resume=False)
    make_plan(linear, toy_train, quiet=True)
    check_memory(linear, 2**60)  # a rough estimate of a linear method refuses nothing
    assert not (tmp_path / "m.checkpoint").exists()


def test_a_plan_is_made_only_for_those_who_listen(toy_train: Dataset, tmp_path: Path) -> None:
    model = make_model("one-vs-all", OneVsAllConfig(), tmp_path / "m", Runtime(), resume=False)
    plan = make_plan(model, toy_train, quiet=False)
    assert [stage.title for stage in plan.stages] == ["tf-idf", "train level 0"]
    assert plan.memory == make_plan(model, toy_train, quiet=True).memory == model.memory_estimate(toy_train)
    assert make_plan(model, toy_train, quiet=True).stages == ()


def test_an_interrupted_training_says_how_it_goes_on(
    toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(data: Dataset) -> None:
        checkpoint_folder(tmp_path / "m").mkdir()
        raise KeyboardInterrupt

    model = make_model("one-vs-all", OneVsAllConfig(), tmp_path / "m", Runtime(), resume=False)
    monkeypatch.setattr(model, "_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn(model, Calibrating(toy_train), Plan(), tmp_path / "m", quiet=False)
    assert capsys.readouterr().err == "interrupted; the same command with --resume continues it\n"
    assert not (tmp_path / "m").exists()


def test_a_gpu_has_a_memory_of_its_own(toy_train: Dataset) -> None:
    """What is free there can only be asked for where there is one; what is said about it needs none."""
    from treetop import XRLinear
    from treetop.apps.training import check_device_memory, refuse_too_much

    check_device_memory(XRLinear(), toy_train)
    refuse_too_much(XRLinear(), 2 * 2**30, 2**30, "on cuda:1")
    with pytest.raises(ConfigError, match=r"needs about 3\.0 GiB of memory on cuda:1, 1\.0 GiB are available"):
        refuse_too_much(XRLinear(), 3 * 2**30, 2**30, "on cuda:1")
