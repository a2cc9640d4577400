"""The version is written in two places, which must agree."""

from __future__ import annotations

from pathlib import Path

import treetop


def test_the_package_and_its_description_have_one_version() -> None:
    description = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{treetop.__version__}"\n' in description
