"""One model as it is served: loaded from a folder, tried, and known by a version that changes when the folder does."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from treetop.apps.serve import messages
from treetop.apps.serve.labelsearch import LabelSearch
from treetop.apps.serve.stages import Stages
from treetop.errors import ConfigError
from treetop.labels import LabelTree
from treetop.manifest import MANIFEST
from treetop.methods import Method, load
from treetop.methods.calibrating import cut_at
from treetop.methods.catalogue import METHODS
from treetop.methods.origin import digest_of
from treetop.predictions import Kind, Predictions
from treetop.runtime import Runtime

__all__ = ["ServedModel", "version_of"]

_PROBE = "a text to try the model with"
_AIMS = {"auto": "f1"}
_AIMS_KEPT = 64


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model that has answered a first text."""

    name: str
    path: Path
    version: str
    model: Method[Any]
    kind: Kind
    stages: Stages
    empty: tuple[int, float] | None
    """The best label of an empty text and its score: what a linear model says of every text without a word that it
    knows. None if an encoder has a say."""
    since: float = field(default_factory=time.monotonic)

    @classmethod
    def load(cls, name: str, path: Path, runtime: Runtime) -> ServedModel:
        """Open the folder and try the model; whatever is wrong with it is an error here, not for a client."""
        version = version_of(path)
        stages = Stages()
        model = load(path, runtime=replace(runtime, progress=stages))
        found = model.predict([_PROBE, ""], k=10)
        empty = int(found.labels[1, 0]), float(found.scores[1, 0])
        return cls(name, path, version, model, found.kind, stages, None if _has_encoder(model) else empty)

    @cached_property
    def needs_encoder(self) -> bool:
        """Whether a text takes an encoder, or only sparse features, which is a thousand times quicker."""
        return _has_encoder(self.model)

    @cached_property
    def unseen(self) -> frozenset[int]:
        """Labels without a training text."""
        return frozenset(np.flatnonzero(np.asarray(self.model.frequency) == 0).tolist())

    @cached_property
    def explains(self) -> bool:
        """Whether it can say why."""
        return all(type(one)._account is not Method._account for one in _models(self.model))

    @cached_property
    def tree(self) -> LabelTree:
        """The tree that labels are searched in; where there is none, all of them below the root."""
        return self.model.label_tree() or LabelTree.flat(len(self.model.space))

    @cached_property
    def search(self) -> LabelSearch:
        """Its labels, to be searched."""
        return LabelSearch(self.model.space, self.model.frequency)

    @cached_property
    def most_tokens(self) -> int:
        """Tokens that are read of a text, at most; for a linear model its length does not matter."""
        encoders = [model.config.encoder for model in _models(self.model) if METHODS[model.name].has("encoder")]
        return max((encoder.max_tokens * encoder.chunks for encoder in encoders), default=1 << 30)

    def predict(
        self,
        texts: Sequence[str],
        k: int,
        labels: Sequence[str] | None = None,
        told: Callable[[str, float], None] | None = None,
    ) -> Predictions:
        """The k best labels of each text; `told` hears how long each stage took."""
        if told is None:
            return self.model.predict(texts, k, labels=labels)
        begun = self.stages.begin()
        found = self.model.predict(texts, k, labels=labels)
        for stage, seconds in self.stages.end(begun).items():
            told(stage, seconds)
        return found

    def cut(self, found: Predictions, threshold: float | str | None) -> Predictions:
        """Only labels at or above the threshold, a number or an aim."""
        if threshold is None:
            return found
        return found.at_least(threshold if isinstance(threshold, float) else self._threshold(threshold, found.kind))

    @cached_property
    def _threshold(self) -> Callable[[str, Kind], Any]:
        """Aims are looked up in what was held out, which takes longer than a prediction; so they are kept."""

        @lru_cache(maxsize=_AIMS_KEPT)
        def look_up(aim: str, kind: Kind) -> Any:
            return cut_at(_AIMS.get(aim, aim), self.model.calibration, kind)

        return look_up

    def label(self, number: int) -> messages.Label:
        """A label as it is sent."""
        space = self.model.space
        text = None if space.texts is None else space.texts[number]
        return messages.Label(space.names[number], text, int(self.model.frequency[number]))

    def describe(self) -> messages.Model:
        """What there is to know about it."""
        calibrated = self.model.calibration is not None
        return messages.Model(
            name=self.name, version=self.version, method=self.model.name, labels=len(self.model.space),
            trained_texts=self.model.training["texts"], calibrated=calibrated, kind=self.kind,
            thresholds=self.kind == "probability", explains=self.explains,
        )  # fmt: skip


def _has_encoder(model: Method[Any]) -> bool:
    return any(METHODS[one.name].has("encoder") for one in _models(model))


def _models(model: Method[Any]) -> tuple[Method[Any], ...]:
    """The model, and those that an ensemble is made of."""
    return (model, *getattr(model, "members", ()))


def version_of(path: Path) -> str:
    """A short word for what is in a model folder: of its manifest, which has a digest of every file."""
    if not path.is_dir():
        raise ConfigError(f"{path} is no model folder; give one that treetop train has written")
    manifest = path / MANIFEST
    if not manifest.exists():
        return digest_of(path)
    return hashlib.blake2b(manifest.read_bytes(), digest_size=8).hexdigest()
