from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
from tools.wheels import IN_A_WHEEL, built_by, interpreters, missing, tag, version_of, wanted

from tools import wheels

ALL = [(3, 10), (3, 11), (3, 12), (3, 13)]


def test_this_interpreter_is_found() -> None:
    here = (sys.version_info[0], sys.version_info[1])
    assert here not in wheels.SUPPORTED or interpreters()[here] == sys.executable


def test_what_is_no_interpreter_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "python3.10"
    shim.write_text("#!/bin/sh\necho 'not switched on' >&2; exit 127\n")
    shim.chmod(0o755)
    assert version_of(str(shim)) is None
    assert version_of(str(tmp_path / "nowhere")) is None
    monkeypatch.setattr(wheels, "candidates", lambda _version: [str(shim), "", sys.executable])
    here = (sys.version_info[0], sys.version_info[1])
    assert interpreters() == ({here: sys.executable} if here in wheels.SUPPORTED else {})


def test_from_the_stable_abi_on_one_wheel_serves_all() -> None:
    assert [built_by(version, ALL) for version in ALL] == [(3, 10), (3, 11), (3, 12), (3, 12)]
    assert built_by((3, 13), [(3, 10), (3, 13)]) == (3, 13)
    assert [tag(version) for version in ALL] == ["cp310-cp310", "cp311-cp311", "cp312-abi3", "cp312-abi3"]


def test_the_ends_are_the_oldest_and_the_newest() -> None:
    assert wanted(ALL, ends=False) == ALL
    assert wanted(ALL, ends=True) == [(3, 10), (3, 13)]
    assert wanted([(3, 11)], ends=True) == [(3, 11)]


def test_a_wheel_that_lacks_something_is_noticed(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.whl", tmp_path / "broken.whl"
    for path, names in ((whole, IN_A_WHEEL), (broken, [*IN_A_WHEEL[1:], "treetop/kernels/src/module.cpp"])):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "")
    assert missing(whole) == []
    assert missing(broken) == ["treetop/py.typed", "treetop/kernels/src/module.cpp"]
