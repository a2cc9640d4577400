"""`treetop presets`."""

from __future__ import annotations

from shell import run
from treetop.methods.registry import trainable


def test_presets_and_methods_are_listed() -> None:
    listed = run("presets")
    assert listed.returncode == 0, listed.stderr
    assert "bonsai" in listed.stdout
    assert "cascadexml-amazon-670k" in listed.stdout
    assert "50.2/45.2/41.5" in listed.stdout
    helped = run("train", "--help", COLUMNS="300", NO_COLOR="1").stdout
    for record in trainable():  # an ensemble has a command of its own
        assert record.name in listed.stdout
        assert record.name in helped


def test_all_settings_of_one_are_shown() -> None:
    shown = run("presets", "thorough")
    assert shown.returncode == 0, shown.stderr
    assert 'method = "xr-linear"' in shown.stdout
    assert "max_leaf = 400" in shown.stdout
    assert run("presets", "thorogh").stderr == "error: there is no preset 'thorogh'; did you mean 'thorough'?\n"
