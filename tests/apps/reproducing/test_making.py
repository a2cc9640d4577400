"""Every published row at a small scale on a tiny encoder: the models, their figures, and a run that continues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from small_release import ordered
from treetop.apps.reproducing import make, show
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods import load
from treetop.methods.xr_transformer import XRTransformer
from treetop.metrics import evaluate
from treetop.predictions import fuse
from treetop.presets.papers import PAPERS
from treetop.presets.registry import preset
from treetop.runtime import Runtime

SOME = ("x-transformer-eurlex-4k", "lightxml-amazon-670k", "xr-transformer-wiki-500k", "cascadexml-wiki10-31k")
EACH = [pytest.param(p.name, marks=() if p.name in SOME else pytest.mark.slow) for p in PAPERS]


@pytest.mark.parametrize("name", EACH)
def test_each_row_runs_to_its_table(name: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ordered(name, data, scale=0.2 if name.startswith("x-") else 0.4)
    made = make(wanted, tmp_path / "run", Runtime(threads=1), models=False)
    assert [one.name for one in made[:-1]] == [member.name for member in preset(name).members]
    assert all(0 < one.metrics["p@1"] <= 1 and one.metrics["psp@5"] > 0 for one in made)
    rankings = {(tmp_path / "run" / f"{one.name}.safetensors").read_bytes() for one in made[:-1]}
    assert len(rankings) == len(made) - 1, "no two members are alike"
    show(wanted, made)
    said = capsys.readouterr().out
    for row in preset(name).published:
        assert f"{row.precision[2]:.2f}" in said
    assert not list((tmp_path / "run").glob("embedding-*"))
    assert not (tmp_path / "run" / wanted.members[0].name).exists()


def test_a_run_continues_with_what_is_not_done(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, runtime = ordered("xr-transformer-eurlex-4k", data), Runtime(threads=1)
    whole = make(wanted, tmp_path / "whole", runtime)
    assert (tmp_path / "whole" / "bert" / "model.json").exists()
    fits: list[int] = []

    def fit(model: Any, train: Dataset) -> Any:
        fits.append(model.runtime.seed)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return own_fit(model, train)

    own_fit = XRTransformer.fit
    monkeypatch.setattr(XRTransformer, "fit", fit)
    with pytest.raises(KeyboardInterrupt):
        make(wanted, tmp_path / "run", runtime)
    again = make(wanted, tmp_path / "run", runtime)
    assert fits == [0, 1, 1, 2]
    assert [one.metrics for one in again] == [one.metrics for one in whole]
    assert len(fits) == 4
    assert make(wanted, tmp_path / "run", runtime) == again
    assert len(fits) == 4, "nothing was left to do"
    with pytest.raises(ConfigError, match=r"holds another run \(members differ\)"):
        make(ordered("xr-transformer-eurlex-4k", data, single=True), tmp_path / "run", runtime)


def test_all_is_what_the_papers_fuser_makes_of_the_rankings(data: Path, tmp_path: Path) -> None:
    wanted, run = ordered("lightxml-eurlex-4k", data), tmp_path / "run"
    made = make(wanted, run, Runtime(threads=1))
    lists = [load(run / member.name).predict(wanted.test, len(wanted.train.space)) for member in wanted.members]
    expected = evaluate(fuse(lists, "average", k=5), wanted.test, ("p@1", "p@5"))
    assert {name: made[-1].metrics[name] for name in expected} == pytest.approx(expected)
    assert json.loads((run / "result.json").read_text())["made"][-1]["metrics"] == made[-1].metrics


def test_a_folder_of_something_else_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(ConfigError, match="is not empty and holds no run"):
        make(ordered("lightxml-eurlex-4k", data), tmp_path / "mine", Runtime())
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
