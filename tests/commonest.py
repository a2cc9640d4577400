"""A method as somebody might add it: suggest the commonest labels, whatever the text says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treetop.data import Corpus, Dataset
from treetop.methods.base import Method
from treetop.methods.parts import Part
from treetop.predictions import Ask, Predictions


@dataclass(frozen=True, kw_only=True, slots=True)
class CommonestConfig:
    """How many labels are worth a suggestion."""

    most: int = 3
    """Labels that are suggested."""


class Commonest(Method[CommonestConfig]):
    """The commonest labels of the training texts."""

    name = "commonest"
    config_class = CommonestConfig
    parts = (
        Part(
            "order",
            write=lambda order, folder: folder.write_tensors("commonest.safetensors", {"order": order}),
            read=lambda _, folder: folder.read_tensors("commonest.safetensors")["order"],
        ),
    )

    def _fit(self, train: Dataset) -> None:
        self.order = np.argsort(-train.frequency, kind="stable")[: self.config.most]

    has_beam = False

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        order = self.order if ask.allowed is None else self.order[np.isin(self.order, ask.allowed)]
        labels = np.tile(order[: ask.k].astype(np.int32), (len(corpus), 1))
        return Predictions(labels, np.zeros(labels.shape, np.float32))
