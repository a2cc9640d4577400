"""Facts around the figures: the texts that were measured on, the settings of each model, and who computed it all."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from treetop.apps.comparing import Field
from treetop.apps.looking import LABELS_PER_TEXT, WORDS_PER_TEXT, histogram
from treetop.config import to_dict
from treetop.data.fingerprint import fingerprint
from treetop.data.sampling import some_of
from treetop.methods import Method
from treetop.methods.fine_tuned import FineTuned
from treetop.version import __version__

__all__ = ["about_data", "about_model", "versions"]

_PACKAGES = ("numpy", "scipy", "polars", "torch", "transformers", "tokenizers", "openvino", "onnxruntime")
_SAMPLE = 20_000  # texts whose words are counted


def about_data(field: Field, split: str) -> dict[str, Any]:
    """Sizes, histograms and the fingerprint of the texts."""
    data, found = field.dataset, field.dataset.findings
    words = np.array([len(text.split()) for text in some_of(data.corpus.texts, _SAMPLE)], np.int64)
    per_text = np.diff(data.labels.indptr)
    frequency = data.frequency
    return {
        "source": found.source,
        "split": split,
        "fingerprint": fingerprint(data),
        "texts": len(data),
        "labels": int(np.count_nonzero(frequency)),
        "pairs": int(data.labels.nnz),
        "without_labels": found.unlabelled,
        "duplicates": found.duplicates,
        "labels_per_text": histogram(per_text, LABELS_PER_TEXT),
        "words_per_text": histogram(words, WORDS_PER_TEXT),
        "unseen_labels": None if field.frequency is None else int(np.count_nonzero(frequency * (field.frequency == 0))),
        "remarks": list(found.remarks),
    }


def about_model(model: Method[Any]) -> dict[str, Any]:
    """What a model is, what it learned from, all its settings, and the course of its training."""
    facts: Mapping[str, Any] = model.describe() | ({} if model.calibration is None else model.calibration.describe())
    return {
        "method": model.name,
        "training": model.training,
        "facts": {name: str(value) for name, value in facts.items()},
        "config": to_dict(model.config),
        "training_curve": model.training_records() if isinstance(model, FineTuned) else [],
    }


def versions() -> dict[str, str]:
    """Treetop, Python, the machine, and the packages that are there."""
    own = {"treetop": __version__, "python": platform.python_version(), "machine": platform.machine()}
    return own | {name: found for name in _PACKAGES if (found := _version(name))}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
