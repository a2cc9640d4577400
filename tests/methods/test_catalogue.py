from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import treetop
from treetop.apps import tables
from treetop.apps.options import method_help
from treetop.apps.training import make_model
from treetop.data import Dataset
from treetop.methods.catalogue import METHODS
from treetop.methods.record import MethodRecord
from treetop.methods.resolving import resolve
from treetop.runtime import Runtime

ROOT = Path(__file__).parents[2]


def test_records_are_filed_under_their_names() -> None:
    assert [record.name for record in METHODS.values()] == list(METHODS)


def test_what_has_an_encoder_says_which_extra_it_needs() -> None:
    assert all(record.extra == "neural" for record in METHODS.values() if record.has("encoder"))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page_that_the_index_leads_to(name: str) -> None:
    assert f"({name}.md)" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / f"{name}.md").exists()


def test_a_record_is_all_that_a_new_method_needs(
    toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = MethodRecord("commonest", "commonest:Commonest", "the labels that are never far wrong", extra="toy")
    monkeypatch.setitem(METHODS, record.name, record)
    package: Any = treetop
    assert {"Commonest", "CommonestConfig"} <= set(dir(treetop))
    assert package.CommonestConfig().most == 3
    assert "commonest with the extra 'toy'" in method_help()
    tables.show_presets()
    assert "the labels that are never far wrong (extra: toy)" in capsys.readouterr().out
    config = resolve("commonest", assignments=("most=2",))
    model = make_model("commonest", config, tmp_path / "model", Runtime(), resume=False).fit(toy_train)
    model.save(tmp_path / "model")
    again = treetop.load(tmp_path / "model")
    assert type(again) is package.Commonest
    assert again.predict(["anything"])[0] == model.predict(["anything"])[0]
    assert len(again.predict(["anything"])[0]) == 2
