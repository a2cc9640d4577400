"""Names mixed into the scores of a model: by how much, and for which labels, those included that it never saw.

With s the score of a label by the model, or the lowest score that lists end with if the label is not in the list:

    score(text, label) = s + w · share(text, label)^p

where w is one weight for labels with training texts and another for labels without; the larger p, the less parts of a
name count beside the whole. Scores from 0 to 1 stay so: they
are divided by 1 + the larger weight. Weights are chosen on held-out texts (`choosing.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from treetop.data import Corpus, LabelSpace
from treetop.errors import StoreError
from treetop.kernels import rank_by_names
from treetop.naming.index import NameIndex, NamePart
from treetop.predictions import Ask, Kind, Predictions
from treetop.runtime import Runtime
from treetop.store import Folder
from treetop.types import CSR, Floats

__all__ = ["DEPTH", "FOLDER", "Naming"]

DEPTH = 50
"""Labels that a model lists before names are mixed in, so that the best k are the same for every k up to that."""
FOLDER = "names"
_HIGHEST = 10  # power that a folder may ask for
_ABOUT = "names.json"
_LABELS = "labels.jsonl"


@dataclass(frozen=True, slots=True, eq=False)
class Naming:
    """Label names, and what finding them in a text is worth."""

    space: LabelSpace
    """All labels with a name: those that the model was trained on, then those that only the catalogue has."""
    index: NameIndex
    trained: int
    """How many of the labels, from the first on, the model can list itself."""
    weight: float
    """Added to the score of a label if the whole of a usual name is in the text."""
    unseen_weight: float
    """The same for a label without training texts."""
    power: int
    """What shares are raised to."""
    floor: float
    """What a label counts that the model does not list."""
    kind: Kind
    """What the model's scores are, and those that are mixed."""
    unseen: NDArray[np.bool_]
    """Which labels have no training text."""
    worth: Floats = field(init=False)

    def __post_init__(self) -> None:
        worth = np.where(self.unseen, self.unseen_weight, self.weight)
        object.__setattr__(self, "worth", worth.astype(np.float32))

    def nothing(self, texts: int) -> Predictions:
        """What the model lists if it is not asked."""
        return Predictions(np.full((texts, 1), -1, np.int32), np.zeros((texts, 1), np.float32), kind=self.kind)

    def inner(self, ask: Ask) -> Ask | None:
        """What to ask the model for; None if none of the labels asked for is one that it can list."""
        if ask.allowed is None:
            return ask._replace(k=min(max(ask.k, DEPTH), self.trained))
        known = ask.allowed[ask.allowed < self.trained]
        return Ask(min(max(ask.k, DEPTH), len(known)), ask.beam, known) if len(known) else None

    def mixed(self, listed: Predictions, corpus: Corpus, ask: Ask, runtime: Runtime) -> Predictions:
        """The best labels by the model's scores and the names found in the texts."""
        return self.ranked(listed, self.index.terms_of(corpus, threads=runtime.cores), ask, runtime)

    def ranked(self, listed: Predictions, terms: CSR, ask: Ask, runtime: Runtime) -> Predictions:
        """The same for texts of which it is known which terms of names they have."""
        allowed = None
        if ask.allowed is not None:
            allowed = np.zeros(len(self.space), bool)
            allowed[ask.allowed] = True
        labels, scores = rank_by_names(
            terms, listed.labels, listed.scores, self.index.postings, self.worth,
            most=max(self.weight, self.unseen_weight), power=self.power, floor=self.floor, k=ask.k, allowed=allowed,
            threads=runtime.cores,
        )  # fmt: skip
        return Predictions(labels, scores / np.float32(self.scale), kind=self.kind)

    @property
    def scale(self) -> float:
        """What mixed scores are divided by."""
        return 1 + max(self.weight, self.unseen_weight) if self.kind == "score" else 1.0

    def evidence(self, text: str, label: str) -> list[NamePart]:
        """What each part of a label's name that is in the text adds to the label's score, the most first."""
        number = self.space.index[label]
        parts = self.index.parts_of(text, number)
        whole = sum(part.share for part in parts)
        unit = float(self.worth[number]) / self.scale * whole ** (self.power - 1)
        return [NamePart(words, share * unit) for words, share in parts]

    def given(self, frequency: NDArray[np.int64]) -> Naming:
        """The same for a model of the same labels that was trained again."""
        unseen = np.ones(len(self.space), bool)
        unseen[: len(frequency)] = frequency == 0
        return replace(self, unseen=unseen)

    def describe(self) -> dict[str, Any]:
        """Facts worth showing."""
        only = len(self.space) - self.trained
        more = f"; {only:,} labels are known by name only" if only else ""
        weights = f"weight {self.weight:.3g}, of unseen labels {self.unseen_weight:.3g}, power {self.power}"
        return {"label names": weights + more}

    def save(self, folder: Folder) -> None:
        """Write it into a folder of its own; the labels that the model was trained on are not repeated."""
        about = {name: getattr(self, name) for name in ("trained", "weight", "unseen_weight", "power", "floor", "kind")}
        folder.write_json(_ABOUT, about)
        names, texts = self.space.names[self.trained :], (self.space.texts or ())[self.trained :]
        rows = [{"label": name} for name in names] if self.space.texts is None else [
            {"label": name, "text": text} for name, text in zip(names, texts, strict=True)
        ]  # fmt: skip
        folder.write_lines(_LABELS, rows)
        self.index.save(folder)

    @classmethod
    def load(cls, folder: Folder, trained: LabelSpace, frequency: NDArray[np.int64]) -> Naming:
        """Read it for a model with these labels and their training texts."""
        about, rows = folder.read_json(_ABOUT), list(folder.read_lines(_LABELS))
        with folder.reading(_ABOUT) as path:
            numbers = {name: float(about[name]) for name in ("weight", "unseen_weight", "floor")}
            kind, power = about["kind"], int(about["power"])
            if about["trained"] != len(trained) or not _sound(kind, power, numbers):
                problem = f"{kind!r}, names for {about['trained']} trained labels, the model has {len(trained)}"
                raise StoreError(f"the file is damaged ({problem}); learn the names again", path=path)
            texts = {row["label"]: row["text"] for row in rows if "text" in row}
            space = trained.extended((row["label"] for row in rows), texts)
        unseen = np.append(frequency == 0, np.ones(len(space) - len(trained), bool))
        return cls(
            space, NameIndex.load(folder, len(space)), len(trained), **numbers, power=power, kind=kind, unseen=unseen
        )


def _sound(kind: Any, power: int, numbers: Mapping[str, float]) -> bool:
    return kind in get_args(Kind) and 1 <= power <= _HIGHEST and all(map(math.isfinite, numbers.values()))
