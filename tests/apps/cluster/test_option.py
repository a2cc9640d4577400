from __future__ import annotations

from pathlib import Path

import pytest

from shell import complain


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cluster", "auto"], "trains what is chosen already: give --method"),
        (["--cluster", "auto", "--method", "lightxml"], "'lightxml' has none; choose one of xr-linear, one-vs-all"),
        (["--shared", "there"], "give --cluster with it"),
        (["--cluster", "local:none", "--method", "xr-linear"], "local:3 for three nodes here"),
    ],
)
def test_what_a_cluster_cannot_do_is_said_at_once(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    given: list[str | Path] = ["train", "--data", tmp_path / "absent", "--out", tmp_path / "m", *options]
    assert said in complain(given, monkeypatch, capfd)
    assert not list(tmp_path.iterdir())


def test_suggestions_of_a_cluster_need_a_file(
    model: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "give --out" in complain(["predict", model, "-", "--cluster", "auto"], monkeypatch, capfd)
