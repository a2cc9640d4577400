"""A small model of every method as it is written now, with all that a model can have beside its method's own parts."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from drills.drill import MODELS
from treetop.methods import METHODS, Method, load, method_class
from treetop.methods.ensemble import Ensemble
from treetop.runtime import Runtime

__all__ = ["current_model", "current_models", "tagged_texts"]

_TOPICS = ("apple pie cake", "rain wind snow", "topic1 topic2", "text noise1 noise2")
_READERS = {"lightxml": {"reader": "onnx", "reader_precision": "float32"}, "xr-transformer": {"reader": "openvino"}}
"""Who reads the texts of these; those of the others are read with torch, as an export takes seconds."""
_LEVELS: dict[str, dict[str, Any]] = {
    "xr-linear": {"tree": {"max_leaf": 2, "branching": 2}, "trees": 2},
    "x-transformer": {"tree": {"max_leaf": 2}},
}
"""Settings with which twelve labels make groups."""


def tagged_texts(count: int, *, seed: int = 0, words: int = 5) -> tuple[list[str], list[list[str]]]:
    """Texts of four topics, and the labels of each."""
    random = Random(seed)
    topics = [_TOPICS[number % 4].split() for number in range(count)]
    texts = [" ".join(random.choices(topic, k=words)) for topic in topics]
    return texts, [[topic[0], f"{topic[1]} {number % 8}"] for number, topic in enumerate(topics)]


def current_models() -> tuple[Path, ...]:
    """The folders of all of them, which stay until the process ends."""
    return tuple(map(current_model, sorted(METHODS)))


@cache
def current_model(name: str) -> Path:
    """The folder of the model of a method."""
    folder = Path(_home().name) / name
    if METHODS[name].has("members"):
        members = [load(current_model(one), runtime=Runtime(threads=1)) for one in ("xr-linear", "one-vs-all")]
        model: Method[Any] = Ensemble.of(members)
    else:
        model = _untrained(name, tuned=METHODS[name].has("encoder")).fit(*tagged_texts(40))
    _complete(model).save(folder)
    return folder


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="treetop-models-")


def _untrained(name: str, *, tuned: bool) -> Method[Any]:
    levels = _LEVELS.get(name, {})
    if not tuned:
        return method_class(name)(runtime=Runtime(threads=1), **levels)
    reader = _READERS.get(name, {"reader": "torch"})
    encoder = {"name": str(MODELS / "lightxml" / "encoder"), "max_tokens": 16, **reader}
    settings: dict[str, Any] = {"encoder": encoder, "optim": {"steps": 6, "batch_size": 8}}
    return method_class(name)(runtime=Runtime(threads=1), **settings, **levels)


def _complete(model: Method[Any]) -> Method[Any]:
    """With probabilities, label names and texts to show."""
    held_out = tagged_texts(80, seed=1, words=12)
    return model.learn_names(*held_out).calibrate(*held_out).keep_texts(*held_out)
