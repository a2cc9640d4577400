"""The embedded corpus: docstrings of the standard library and of treetop's own dependencies.

Real text that every installation has, so that nothing is downloaded: about ten thousand descriptions of functions and
classes, tagged with thousands of long-tailed labels (module, class, name, parameters; see `docstrings`). It differs a
little from one installation to the next, as the versions of Python and of the packages do.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sysconfig
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treetop.data.dataset import Dataset
from treetop.data.docstrings import Docstring, docstrings
from treetop.data.splitting import split_by_ratio

__all__ = ["PACKAGES", "demo_corpus"]

PACKAGES = ("numpy", "scipy", "polars", "rich", "typer", "click", "pygments", "markdown_it")
"""Dependencies whose docstrings are read, if they are installed."""

_LEFT_OUT = {
    "test", "tests", "conftest.py", "site-packages", "dist-packages", "_vendor", "_lib", "lexers", "styles",
    "distutils", "ensurepip", "f2py", "idlelib", "lib2to3", "pydoc_data", "turtledemo",
}  # fmt: skip
"""Folders of tests, of copies of other packages, and of tables."""
_TRAIN_SHARE = 0.85
_RARE = 2


def demo_corpus() -> tuple[Dataset, Dataset]:
    """Training and test set over one label space; no text is in both, and every label has two texts or more."""
    texts: dict[str, Docstring] = {}
    with _collector_at_rest():
        for found in _installed_docstrings():
            texts.setdefault(found.text.casefold(), found)
    frequency = Counter(label for found in texts.values() for label in found.labels)
    rows = [[label for label in found.labels if frequency[label] >= _RARE] for found in texts.values()]
    kept = [found.text for found, labels in zip(texts.values(), rows, strict=True) if labels]
    return split_by_ratio(Dataset.build(kept, [labels for labels in rows if labels]), _TRAIN_SHARE)


def _installed_docstrings() -> Iterator[Docstring]:
    """In the order of package and file name, which is the same on every run."""
    for folder, prefix in _roots():
        for path in _source_files(folder):
            parts = (*prefix, *path.relative_to(folder).with_suffix("").parts)
            yield from docstrings(path, ".".join(parts).removesuffix(".__init__"))


def _source_files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        yield from (Path(here, name) for name in sorted(set(files) - _LEFT_OUT) if name.endswith(".py"))


def _roots() -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Folders of source files, each with the package name in front of its modules."""
    yield Path(sysconfig.get_paths()["stdlib"]), ()
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            yield Path(folder), (package,)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No garbage collection: it would search every syntax tree in vain, and take four times as long as parsing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
