"""The encoder is what makes a transformer method: on the planted texts nothing else gets anywhere.

Three models read the same texts: a linear one on tf-idf, the method with its encoder frozen, and the method as it is.
The last must win by far; and to show that it would be noticed if it did not, training and encoder are broken in turn.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import planted
from planted_methods import PLANTED_MAKERS, TREE, p_at_1
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.neural.training import TrainingLog
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading.text_reader import TextReader
from treetop.text.tokens import Padded, Tokens
from treetop.types import Dense


@cache
def linear() -> float:
    return p_at_1(XRLinear(XRLinearConfig(tree=TREE), runtime=Runtime(threads=1)))


@cache
def untuned(name: str) -> float:
    """The same method, its heads and rankers trained as ever, on an encoder that stays as it is."""
    return p_at_1(PLANTED_MAKERS[name](encoder=replace(planted.encoder(), freeze=planted.LAYERS)))


def check_that_tuning_pays(name: str) -> None:
    """Whoever finds the topic only is right half of the time, and a guess one time in eighteen."""
    tuned = p_at_1(PLANTED_MAKERS[name]())
    assert tuned > linear() + 0.4, f"P@1 is {linear():.2f} by tf-idf, {tuned:.2f} with a tuned encoder"
    assert tuned > untuned(name) + 0.15, f"P@1 is {untuned(name):.2f} untuned, {tuned:.2f} tuned"


def test_words_alone_say_nothing() -> None:
    assert linear() < 0.2


@pytest.mark.parametrize("name", PLANTED_MAKERS)
def test_tuning_pays(name: str) -> None:
    assert linear() + 0.2 < untuned(name) < 0.65
    check_that_tuning_pays(name)


@pytest.mark.parametrize("name", PLANTED_MAKERS)
def test_training_that_does_nothing_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    untuned(name)
    for home in [module for at, module in sys.modules.items() if at.startswith("treetop.methods.")]:
        if hasattr(home, "fine_tune"):
            monkeypatch.setattr(home, "fine_tune", lambda *_arguments, **_options: TrainingLog())
    with pytest.raises(AssertionError, match="P@1 is"):
        check_that_tuning_pays(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cascadexml by its linear model", "xr-transformer", "x-transformer"])
def test_embeddings_that_are_noise_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other methods never ask for embeddings: they score states as the encoder makes them, see below."""

    def embed(self: TextEncoder | TextReader, tokens: Tokens, runtime: Runtime, *, layer: int = -1) -> Dense:
        return np.random.default_rng(0).standard_normal((len(tokens), self.width), np.float32)

    untuned(name)
    monkeypatch.setattr(TextEncoder, "embed", embed)
    monkeypatch.setattr(TextReader, "read", embed)
    with pytest.raises(AssertionError, match="P@1 is"):
        check_that_tuning_pays(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED_MAKERS)
def test_states_that_are_noise_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forward = TextEncoder.forward

    def noise(self: TextEncoder, batch: Padded, layers: Sequence[int] = (-1,)) -> Any:
        return torch.randn_like(forward(self, batch, layers))

    untuned(name)
    monkeypatch.setattr(TextEncoder, "forward", noise)
    with pytest.raises(AssertionError, match="P@1 is"):
        check_that_tuning_pays(name)
