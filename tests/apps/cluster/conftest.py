from __future__ import annotations

from pathlib import Path

import pytest

from on_ray import digest, train, write_texts


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts with thousands of labels."""
    path = tmp_path_factory.mktemp("data") / "train.jsonl"
    write_texts(path)
    return path


@pytest.fixture(scope="session")
def trained_here(many: Path) -> Path:
    """A model of them, made by this machine alone."""
    out = many.parent / "local"
    assert train(many, out).returncode == 0
    return out


@pytest.fixture(scope="session")
def local(trained_here: Path) -> str:
    """The digest of that model."""
    return digest(trained_here)
