"""Predictions as they are sent."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.suggesting import results
from treetop.predictions import Predictions
from treetop.runtime import Runtime


def test_names_texts_and_probabilities(model_folder: Path, plain_folder: Path) -> None:
    labels, scores = np.array([[3, 0], [1, -1]], np.int32), np.array([[0.5, 0.25], [0.1, 0]], np.float32)
    served = ServedModel.load("toy", model_folder, Runtime(threads=1))
    names = served.model.space.names
    first, second = results(served, Predictions(labels, scores, names, "probability"))
    assert [(s.label, s.text, s.score, s.probability) for s in first.suggestions] == [
        (names[3], f"About {names[3]}", 0.5, 0.5),
        (names[0], f"About {names[0]}", 0.25, 0.25),
    ]
    assert [s.score for s in second.suggestions] == [0.1]
    plain = ServedModel.load("plain", plain_folder, Runtime(threads=1))
    (only,) = results(plain, Predictions(labels[:1], scores[:1], names, "score"))
    assert (only.suggestions[0].text, only.suggestions[0].probability) == (None, None)


def test_labels_without_a_training_text_are_marked(model_folder: Path) -> None:
    served = ServedModel.load("toy", model_folder, Runtime(threads=1))
    served.model.frequency = np.array(served.model.frequency)
    served.model.frequency[3] = 0
    found = Predictions(np.array([[3, 0]], np.int32), np.ones((1, 2), np.float32), None, "score")
    assert [s.unseen for s in results(served, found)[0].suggestions] == [True, False]
