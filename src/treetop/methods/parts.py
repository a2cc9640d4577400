"""What a fitted model keeps in its folder: a method names its parts, and they are written and read here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treetop.calibration.calibration import NAME as CALIBRATED, Calibration
from treetop.data.learned import FILE as LEARNED_TEXTS, Learned
from treetop.labels import LabelTree
from treetop.linear import LinearLevel, LinearTree, SearchConfig
from treetop.naming import Naming
from treetop.naming.naming import FOLDER as NAMES
from treetop.store import Folder
from treetop.text import Tfidf
from treetop.text.kept import NAME as KEPT_TEXTS, KeptTexts

__all__ = [
    "CALIBRATION", "KEPT", "LEARNED", "NAMING", "TFIDF_IF_TEXTS", "TREE", "Part", "linear_level", "linear_tree",
    "read_parts", "write_parts",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """An attribute of a fitted model, and how it is stored."""

    attribute: str
    write: Callable[[Any, Folder], None]
    """The attribute into the model's folder."""
    read: Callable[[Any, Folder], Any]
    """The attribute for a model, whose configuration and earlier parts are there, from its folder."""
    absent_without: str = ""
    """A file or folder; where it is missing, so is the part, and the attribute is None. Empty: it is always there."""


def write_parts(model: Any, parts: Sequence[Part], folder: Folder) -> None:
    """Write every part that the model has."""
    for part in parts:
        value = getattr(model, part.attribute)
        if value is not None:
            part.write(value, folder)


def read_parts(model: Any, parts: Sequence[Part], folder: Folder) -> None:
    """Give the model its parts, in their order."""
    for part in parts:
        there = not part.absent_without or folder.has(part.absent_without)
        setattr(model, part.attribute, part.read(model, folder) if there else None)


def linear_tree(
    attribute: str, search: Callable[[Any], SearchConfig], *, folder: str = "ranker", optional: bool = False
) -> Part:
    """A linear tree in a folder of its own; `search` finds in the method's configuration how it is searched."""
    return Part(
        attribute,
        write=lambda tree, home: tree.save(home.sub(folder)),
        read=lambda model, home: LinearTree.load(home.sub(folder), search(model.config)),
        absent_without=folder if optional else "",
    )


def linear_level(attribute: str, name: str) -> Part:
    """A single level of linear classifiers in a file of its own."""
    return Part(
        attribute,
        write=lambda level, folder: level.save(folder, name),
        read=lambda _, folder: LinearLevel.load(folder, name),
    )


TREE = Part("tree", write=lambda tree, folder: tree.save(folder), read=lambda _, folder: LabelTree.load(folder))
"""The label tree."""
TFIDF_IF_TEXTS = Part(
    "tfidf",
    write=lambda tfidf, folder: tfidf.save(folder),
    read=lambda _, folder: Tfidf.load(folder),
    absent_without="tfidf.json",
)
"""Tf-idf of texts; absent if a model learned from ready-made features, or has no use for it."""
CALIBRATION = Part(
    "calibration",
    write=lambda calibration, folder: calibration.save(folder),
    read=lambda model, folder: Calibration.load(folder, len(model.space)),
    absent_without=CALIBRATED,
)
"""Maps from scores to probabilities; absent if the model was not calibrated."""
LEARNED = Part(
    "learned",
    write=lambda learned, folder: learned.save(folder),
    read=lambda _, folder: Learned.load(folder),
    absent_without=LEARNED_TEXTS,
)
"""Digests of the training texts; absent from models of 0.1."""
KEPT = Part(
    "kept",
    write=lambda kept, folder: kept.save(folder.sub(KEPT_TEXTS)),
    read=lambda model, folder: KeptTexts.load(folder.sub(KEPT_TEXTS), len(model.space)),
    absent_without=KEPT_TEXTS,
)
"""Training texts to show beside an explanation; absent unless they were asked for."""
NAMING = Part(
    "naming",
    write=lambda naming, folder: naming.save(folder.sub(NAMES)),
    read=lambda model, folder: Naming.load(folder.sub(NAMES), model.space, model.frequency),
    absent_without=NAMES,
)
"""What label names found in texts are worth; absent if that was not learned, or is nothing."""
