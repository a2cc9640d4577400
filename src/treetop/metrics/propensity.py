"""How likely a true label is to have been noticed by the people who labelled the texts.

Rare labels are missed more often than common ones, so finding one is worth more. Jain, Prabhu and Varma
("Extreme Multi-label Loss Functions", KDD 2016) model the propensity p of a label with n training texts out of N as

    1 / p = 1 + C · (n + B)^-A          C = (ln N - 1) · (B + 1)^A

and weight every label by 1 / p. A and B depend on the dataset: `presets.datasets` holds the published constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError
from treetop.types import CSR

__all__ = ["Propensity", "label_frequency"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Propensity:
    """The weight 1 / p of a label, from its number of training texts."""

    train_texts: int
    """Texts in the training set (N in the paper)."""
    a: float = 0.55
    """Constant A: how fast the weight falls with the frequency."""
    b: float = 1.5
    """Constant B: texts added to each frequency, above 0."""

    def __post_init__(self) -> None:
        if self.train_texts < 1:
            raise ConfigError(f"train_texts is {self.train_texts}; give the number of training texts, at least 1")
        if not (self.a >= 0 and self.b > 0):
            raise ConfigError(f"propensity constants are a={self.a}, b={self.b}; a must be >= 0 and b > 0")

    def inverse(self, frequency: NDArray[Any]) -> NDArray[np.float64]:
        """The weight 1 / p of each label; `frequency` counts its training texts, 0 for a label never seen."""
        # Below N = e the formula would turn against rare labels; then all labels weigh the same.
        c = max(log(self.train_texts) - 1, 0) * (self.b + 1) ** self.a
        weights: NDArray[np.float64] = 1 + c * (np.asarray(frequency, np.float64) + self.b) ** -self.a
        return weights


def label_frequency(labels: CSR) -> NDArray[np.int64]:
    """The number of texts of each label: how often its column is above zero."""
    return np.bincount(labels.indices[labels.data > 0], minlength=labels.shape[1])
