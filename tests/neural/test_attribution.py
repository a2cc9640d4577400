"""Integrated gradients: complete, exact where the network is linear, and put to the tokens of the text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from tiny_encoders import make_encoder
from tiny_methods import encoder as tiny
from treetop.neural.attribution import _spread, attribute
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderConfig, TextEncoder

TEXT = "Topic1 word1x2x1, noise7 apple pie word1x2x1"
RUNTIME = Runtime(threads=1)


def two_numbers(states: Tensor) -> Tensor:
    """Two unlike numbers of a text's state."""
    return torch.stack([torch.tanh(0.1 * states[0] @ torch.linspace(-1, 1, 32)), states[0, :, 0] * states[0, :, 1]], 1)


@pytest.fixture(scope="module")
def encoder() -> TextEncoder:
    return TextEncoder.load(tiny())


def test_tokens_add_up_to_the_difference_to_a_masked_text(encoder: TextEncoder) -> None:
    found = attribute(encoder, TEXT, (-1,), two_numbers, RUNTIME)
    assert found.gap.max() < 0.05
    with torch.no_grad():
        encoder.eval()
        states = encoder(encoder.tokenize([TEXT]).pad(np.array([0])))
        np.testing.assert_allclose(found.whole, two_numbers(states)[0].numpy(), atol=1e-5)
    assert [TEXT[start:end] for start, end in found.spans][:2] == ["Topic1", "word1x2x1"]
    assert found.tokens.shape == (2, len(found.spans))


def test_a_word_that_is_read_alone_adds_the_same_beside_any_other(encoder: TextEncoder) -> None:
    """Below all attention, the mean of the tokens has a part for each that the others do not touch."""

    def embeddings_only(states: Tensor) -> Tensor:
        return states[0] @ torch.linspace(-1, 1, 32)[:, None]

    pie, rain = (
        attribute(encoder, f"apple {word}", (0,), embeddings_only, RUNTIME).tokens[0] for word in ("pie", "rain")
    )
    assert abs(pie[0]) > 1e-4
    assert pie[0] == pytest.approx(rain[0], rel=0.03)  # gradients may have 8 bits
    assert pie[1] != pytest.approx(rain[1], rel=0.1)


def test_a_long_text_in_pieces_is_told_as_a_whole() -> None:
    config = replace(tiny(), max_tokens=6, chunks=3)
    encoder = TextEncoder.load(config)
    found = attribute(encoder, TEXT, (-1,), two_numbers, RUNTIME)
    assert found.gap.max() < 0.05
    with torch.no_grad():
        encoder.eval()
        states = encoder(encoder.tokenize([TEXT]).pad(np.array([0])))
        np.testing.assert_allclose(found.whole, two_numbers(states)[0].numpy(), atol=1e-5)
    nothing = [TEXT[start:end] for (start, end), adds in zip(found.spans, found.tokens[0], strict=True) if not adds]
    assert nothing == [","]  # unknown, which is what stands for a masked token where there is no other
    beyond = attribute(encoder, TEXT + " rain" * 30, (-1,), two_numbers, RUNTIME)
    assert len(beyond.spans) == 12  # three pieces of four tokens beside those around them


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "distilbert", "xlnet"])
def test_every_family_is_explained(family: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = make_encoder(tmp_path_factory.mktemp(family), TEXT.split(), layers=2, family=family)
    encoder = TextEncoder.load(EncoderConfig(name=str(folder), max_tokens=32))
    assert attribute(encoder, TEXT, (-1,), two_numbers, RUNTIME).gap.max() < 0.05


def test_an_empty_text_has_no_tokens(encoder: TextEncoder) -> None:
    found = attribute(encoder, "", (-1,), two_numbers, RUNTIME)
    assert found.tokens.shape == (2, 0)
    np.testing.assert_allclose(found.whole, found.masked, atol=1e-6)


def test_sums_over_points_are_integrals_wherever_the_turn_is() -> None:
    for turn, width in ((0.25, 0.15), (0.04, 0.2), (0.5, 0.05), (-2.0, 0.3), (0.5, 1e3)):
        at, weight = _spread(32, turn, width)
        assert 0 < at[0] < at[-1] < 1
        assert weight.min() > 0
        for power in range(4):
            assert weight @ at**power == pytest.approx(1 / (power + 1), abs=1e-3)


def test_a_change_early_on_the_path_needs_few_points() -> None:
    """Of a step where networks take theirs, far less is missed than by as many even points."""

    def slope(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1 / np.cosh((at - 0.27) / 0.12) ** 2 / 0.12)

    change = np.tanh((1 - 0.27) / 0.12) - np.tanh(-0.27 / 0.12)
    misses = [abs(weight @ slope(at) - change) for at, weight in (_spread(6), _spread(6, 0.5, 1e3))]
    assert misses[0] < 0.1 * misses[1]
