from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from treetop.errors import StoreError
from treetop.text.reading.exported import Exported
from treetop.text.tokens import Frame

FRAME = Frame(prefix=(1,), suffix=(2,), types=(0, 0, 0), pad=0, pad_left=False, pooled_last=False)
ABOUT = Exported(engine="openvino", precision="int8", layers=(5, 6), depth=6, width=384, frame=FRAME, limit=512)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "graph.bin").write_bytes(b"weights")
    ABOUT.save(tmp_path)
    return tmp_path


def test_it_comes_back(folder: Path) -> None:
    assert Exported.load(folder) == ABOUT
    assert ABOUT.numbers == 768


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_an_engine_would_wait_for(folder: Path) -> None:
    os.mkfifo(folder / "graph.xml")
    with pytest.raises(StoreError, match=r"graph\.xml: the exported encoder is damaged"):
        Exported.load(folder)


def test_changed_missing_and_foreign_files(folder: Path) -> None:
    (folder / "graph.bin").write_bytes(b"weighty")
    with pytest.raises(StoreError, match=r"graph\.bin: the exported encoder is damaged"):
        Exported.load(folder)
    (folder / "graph.bin").unlink()
    with pytest.raises(StoreError, match="damaged"):
        Exported.load(folder)
    (folder / "reading.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(StoreError, match="this version"):
        Exported.load(folder)
    (folder / "reading.json").write_text(json.dumps({"format": 1, "engine": 5}))
    with pytest.raises(StoreError, match="description is damaged"):
        Exported.load(folder)
