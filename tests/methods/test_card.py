"""Cards of model folders: what is refused, and old ones that stay readable."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treetop
from treetop.errors import StoreError
from treetop.manifest import MANIFEST
from treetop.methods import METHODS, card
from treetop.methods.card import Card, Migration
from treetop.methods.xr_linear import XRLinear
from treetop.runtime import Runtime
from treetop.store import Folder

FIXTURES = Path(__file__).parents[1] / "fixtures" / "models"
"""Models as released versions wrote them, and beside each what it predicted. They are never written anew."""
OLD = sorted(path for path in FIXTURES.glob("*/*") if path.is_dir())


@pytest.mark.parametrize("folder", OLD, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_models_of_every_release_load_and_predict_as_they_did(folder: Path) -> None:
    if METHODS[folder.name].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    recorded = json.loads(folder.with_name(f"{folder.name}.json").read_text(encoding="utf-8"))
    model = treetop.load(folder, runtime=Runtime(threads=1))
    found = model.predict([row["text"] for row in recorded], k=3)
    for row, expected in zip(found, recorded, strict=True):
        assert [suggestion.label for suggestion in row] == expected["labels"]
        np.testing.assert_allclose([suggestion.score for suggestion in row], expected["scores"], atol=1e-4)
    assert json.loads((folder / "model.json").read_text(encoding="utf-8"))["treetop"] == folder.parent.name


def test_the_first_release_has_a_model_of_every_method_it_had() -> None:
    linear, neural = {"xr-linear", "one-vs-all", "ensemble"}, {"lightxml", "cascadexml", "xr-transformer"}
    assert {path.name for path in OLD if path.parent.name == "0.1.0"} == linear | neural | {"x-transformer"}


@pytest.fixture
def change(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """A model folder whose card is changed."""
    texts = ["red apple", "green apple", "heavy rain"]
    XRLinear().fit(texts, [["fruit"], ["fruit"], ["weather"]]).save(tmp_path / "m")

    def changed(update: dict[str, Any]) -> Path:
        path = tmp_path / "m" / "model.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | update))
        (tmp_path / "m" / MANIFEST).unlink(missing_ok=True)  # changed on purpose, not damaged
        return tmp_path / "m"

    return changed


@pytest.mark.parametrize(
    "training",
    [{}, {"texts": "3"}, {"texts": -1}, {"texts": True}, {"texts": 10**400}, {"labels": 0.5}, {"wall_seconds": None},
     {"cpu_seconds": float("nan")}, {"peak_rss_mib": [1]}],
    ids=lambda change: str(change)[:30],
)  # fmt: skip
def test_what_a_card_says_of_the_training_is_numbers(
    change: Callable[[dict[str, Any]], Path], training: dict[str, Any]
) -> None:
    """They are shown, compared and counted with."""
    whole = {"texts": 3, "labels": 2, "wall_seconds": 0.5}
    treetop.load(change({"training": whole}))
    with pytest.raises(StoreError, match=r"model\.json: what the card says of the training"):
        treetop.load(change({"training": whole | training if training else {}}))


@pytest.mark.parametrize("read", [treetop.load, XRLinear.load])
@pytest.mark.parametrize(
    ("update", "problem"),
    [
        ({"format": 99}, r"model\.json: the model has format 99, this version of treetop reads 2"),
        ({"format": "1"}, "the model has format 1, this"),
        ({"method": ["xr-linear"]}, r"model\.json: the card is not complete \('method'\)"),
        ({"config": []}, r"the card is not complete \('config'\)"),
        ({"training": None}, r"the card is not complete \('training'\)"),
        (
            {"treetop": "0.1.7", "config": {"tree": {"max_leef": 3}}},
            r"model\.json: unknown option 'tree\.max_leef'.*treetop 0\.1\.7 wrote this card, this is",
        ),
        ({"config": {"trees": "three"}}, r"model\.json: 'trees' is 'three'; expected int"),
        ({"config": {"trees": 0}}, r"model\.json: trees is 0"),
    ],
)
def test_what_is_refused(
    read: Callable[[Path], object], update: dict[str, Any], problem: str, change: Callable[[dict[str, Any]], Path]
) -> None:
    with pytest.raises(StoreError, match=problem):
        read(change(update))


def test_a_card_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("[]")
    with pytest.raises(StoreError, match="not the card"):
        XRLinear.load(tmp_path)


def renamed(old: Card) -> Card:
    """As if `trees` had been called `forest` before 0.3.0."""
    config = dict(old["config"])
    return old | {"config": config | {"trees": config.pop("forest")}}


def counted(old: Card) -> Card:
    """As if there had been half as many before 0.10.0."""
    return old | {"config": old["config"] | {"trees": old["config"]["trees"] * 2}}


@pytest.mark.parametrize(
    ("version", "config", "trees"),
    [
        ("0.2.9", {"forest": 1}, 2),
        ("0.3.0", {"trees": 1}, 2),
        ("0.3.0.dev2", {"trees": 1}, 2),
        ("0.10.0", {"trees": 1}, 1),
    ],
)
def test_old_words_are_translated_in_order(
    version: str,
    config: dict[str, int],
    trees: int,
    change: Callable[[dict[str, Any]], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(card, "MIGRATIONS", (Migration("0.3.0", renamed), Migration("0.10.0", counted)))
    folder = Folder(change({"treetop": version, "config": config}))
    assert card.read_card(folder)["config"] == {"trees": trees}


def test_a_card_that_cannot_be_translated_is_damaged(
    change: Callable[[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "MIGRATIONS", (Migration("0.3.0", renamed),))
    with pytest.raises(
        StoreError, match=r"model\.json: not a card as treetop 0\.2\.0 wrote them \(KeyError\('forest'\)"
    ):
        treetop.load(change({"treetop": "0.2.0"}))
