"""The page in a model folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import treetop
from treetop.config import to_dict
from treetop.data import Dataset
from treetop.methods.readme import readme
from treetop.store import Folder


def front_matter(page: str) -> list[str]:
    return page.split("---\n")[1].splitlines()


def test_it_stands_in_every_folder_and_is_listed(tmp_path: Path, toy_train: Dataset) -> None:
    model = treetop.XRLinear().fit(toy_train)
    model.save(tmp_path / "model")
    page = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert page == readme(model) == readme(treetop.load(tmp_path / "model"))
    assert "README.md" in json.loads((tmp_path / "model" / "manifest.json").read_text())["files"]
    head = front_matter(page)
    assert head[:3] == ["library_name: treetop", "pipeline_tag: text-classification", "tags:"]
    assert "- xr-linear" in head
    assert "| training texts | 400 |" in page


def test_what_it_shows_can_be_copied(toy_train: Dataset) -> None:
    model = treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train)
    (settings,) = re.findall(r"```json\n(.*?)```", readme(model), re.DOTALL)
    assert json.loads(settings) == json.loads(json.dumps(to_dict(model.config)))


def test_a_calibrated_model_tells_what_thresholds_did(toy_train: Dataset) -> None:
    model = treetop.XRLinear().fit(toy_train.take(range(250)))
    assert "metrics:" not in front_matter(readme(model))
    assert "held-out" not in readme(model)
    model.calibrate(toy_train.take(range(250, 400)))
    assert "- f1" in front_matter(readme(model))
    assert model.calibration is not None
    assert f"| best threshold for F1 | {model.calibration.threshold('f1'):.3f} |" in readme(model)


def test_an_ensemble_has_one_page(tmp_path: Path, toy_train: Dataset) -> None:
    members = [treetop.XRLinear(tree={"max_leaf": size}).fit(toy_train) for size in (6, 8)]
    treetop.Ensemble.of(members).save(tmp_path / "both")
    assert [path.parent.name for path in (tmp_path / "both").rglob("README.md")] == ["both"]


def test_equal_trainings_have_equal_pages(toy_train: Dataset) -> None:
    pages = [readme(treetop.XRLinear().fit(toy_train)) for _ in range(2)]
    assert pages[0] == pages[1]


def test_a_folder_whose_page_is_damaged_still_loads(tmp_path: Path, toy_train: Dataset) -> None:
    treetop.XRLinear().fit(toy_train).save(tmp_path / "model")
    (tmp_path / "model" / "README.md").write_bytes(b"\xff\x00")
    assert treetop.load(tmp_path / "model").training["texts"] == 400
    assert Folder.open(tmp_path / "model").verify().edited == ("README.md",)
