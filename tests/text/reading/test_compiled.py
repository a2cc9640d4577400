from __future__ import annotations

import os
from pathlib import Path

import pytest

from treetop.text.reading import compiled
from treetop.text.reading.compiled import find_compiled, keep_compiled, word_for


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "treetop" / "compiled"


def test_what_is_kept_is_found_until_it_is_damaged(empty_cache: Path) -> None:
    assert find_compiled("a") is None
    keep_compiled("a", b"graph" * 100)
    assert find_compiled("a") == b"graph" * 100
    content = bytearray((empty_cache / "a").read_bytes())
    content[50] ^= 1
    (empty_cache / "a").write_bytes(content)
    assert find_compiled("a") is None
    (empty_cache / "a").write_bytes(b"")
    assert find_compiled("a") is None


def test_only_the_latest_stay(empty_cache: Path) -> None:
    for number in range(compiled.KEPT):
        keep_compiled(str(number), b"x")
        os.utime(empty_cache / str(number), (number, number))
    assert find_compiled("0") == b"x"  # which makes it the latest
    keep_compiled("new", b"x")
    assert sorted(file.name for file in empty_cache.iterdir()) == ["0", "2", "3", "new"]


def test_a_cache_that_cannot_be_written_is_no_loss(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    keep_compiled("a", b"x")
    assert find_compiled("a") is None


def test_the_word_follows_from_the_graph_and_the_threads(tmp_path: Path) -> None:
    pytest.importorskip("openvino", reason="needs the extra 'openvino'")
    file = tmp_path / "reading.json"
    file.write_text("one")
    words = [word_for("openvino", file, threads) for threads in (1, 1, 2)]
    file.write_text("other")
    assert words[0] == words[1] != words[2]
    assert word_for("openvino", file, 1) not in words
