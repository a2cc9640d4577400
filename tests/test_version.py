"""The version is written in one place, `version.py`; the installed distribution has it too."""

from __future__ import annotations

import re
from importlib.metadata import version

import treetop


def test_the_package_and_its_distribution_have_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", treetop.__version__)
    assert version("treetop-xmc") == treetop.__version__
