"""What each token of a text adds to a number that a network makes of it: integrated gradients.

Between a text whose tokens are all masked, x', and the text itself, x, as embeddings of tokens,

    token i adds  ∫₀¹ <x_i - x'_i, ∂F(x' + a(x - x')) / ∂x_i> da,     all together F(x) - F(x')

(Sundararajan, Taly, Yan: Axiomatic attribution for deep networks, ICML 2017). Networks normalise what they read, so it
is the direction of an embedding that counts along the path. With D = x_i - x'_i it turns with the angle

    φ(a) = atan((a - c) / b),     c = -<x'_i, D> / |D|²,     b² = |x'_i|² / |D|² - c²,

most where it is shortest. The integral is a Gauss sum over that angle, for the median c and b of the tokens: where the
network changes fast there are more points. If the sum misses the difference by more than 5 % there are more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.occurrences import Spans
from treetop.text.threads import threads
from treetop.text.tokens import Padded, Tokens

__all__ = ["Attribution", "attribute"]

_POINTS = (6, 10, 16, 32)  # with 5 some texts of a real encoder miss by more than is tolerated
_NARROWEST = 0.02  # b: an embedding that passes by the origin turns at once, but not the others
_ROUNDING = 1e-5  # of float32: a smaller difference is none
_TOLERATED = 0.05  # of the difference that is to be explained


class Attribution(NamedTuple):
    """What tokens add to some numbers."""

    spans: Spans
    """Where the tokens stand in the text."""
    tokens: NDArray[np.float64]
    """(numbers, tokens)"""
    whole: NDArray[np.float64]
    """(numbers,): of the text as it is."""
    masked: NDArray[np.float64]
    """(numbers,): of the text with all tokens masked."""

    @property
    def gap(self) -> NDArray[np.float64]:
        """What the sum over tokens misses, as a share of the difference it should be."""
        difference = self.whole - self.masked
        return np.asarray(np.abs(self.tokens.sum(1) - difference) / np.maximum(np.abs(difference), _ROUNDING))


def attribute(
    encoder: TextEncoder, text: str, layers: Sequence[int], numbers: Callable[[Tensor], Tensor], runtime: Runtime
) -> Attribution:
    """What each token of a text adds to numbers made of its states.

    `numbers` makes (texts, numbers) of states (layers, texts, width).
    """
    was_training = encoder.training
    encoder.eval()
    try:
        with threads(runtime):
            path = _Path.of(encoder, text, layers, numbers)
            for points in _POINTS:
                found = path.integrate(points)
                if np.all(found.gap <= _TOLERATED):
                    break
            return found
    finally:
        encoder.train(was_training)


@dataclass(frozen=True)
class _Path:
    """The way from a masked text to the text, and what the network makes of both ends."""

    values: Callable[[Tensor], Tensor]
    """From embeddings to numbers: (points, numbers)."""
    start: Tensor
    """(pieces, tokens, width)"""
    end: Tensor
    content: Tensor
    """Which tokens are the text's."""
    places: NDArray[np.int64]
    """The number of each token in the text, or -1."""
    spans: Spans
    tokens: int
    ends: NDArray[np.float64]
    """(2, numbers): of the masked text, and of the text."""

    @classmethod
    def of(cls, encoder: TextEncoder, text: str, layers: Sequence[int], numbers: Callable[[Tensor], Tensor]) -> _Path:
        tokens, row = encoder.tokenize([text]), np.array([0])
        batch, places = tokens.pad(row), _places(tokens).pad(row).ids
        content = torch.from_numpy(places >= 0).to(encoder.device)
        ids = torch.from_numpy(batch.ids).to(encoder.device)

        def values(embedded: Tensor) -> Tensor:
            return numbers(_states(encoder, embedded, batch, layers))

        with torch.no_grad():
            embedded = encoder.model.get_input_embeddings()
            end, start = embedded(ids), embedded(torch.where(content, _blank(encoder.tokenizer), ids))
            ends = values(torch.stack([start, end])).double().cpu().numpy()
        spans = _spans(encoder.tokenizer, text, len(tokens.ids))
        return cls(values, start, end, content, places, spans, len(tokens.ids), ends)

    def integrate(self, points: int) -> Attribution:
        """What tokens add by a sum over so many points."""
        change = self.end - self.start
        at, weight = (torch.tensor(part, dtype=change.dtype, device=change.device) for part in self._points(points))
        between = (self.start + at[:, None, None, None] * change).requires_grad_()
        values = self.values(between)
        adds = np.zeros((values.shape[1], self.tokens))
        for number in range(values.shape[1]):
            last = number == values.shape[1] - 1
            slope = torch.autograd.grad(values[:, number].sum(), between, retain_graph=not last)[0]
            of_place = ((slope * weight[:, None, None, None]).sum(0) * change).sum(-1)
            adds[number, self.places[self.places >= 0]] = of_place[self.content].double().cpu().numpy()
        return Attribution(self.spans, adds[:, : len(self.spans)], self.ends[1], self.ends[0])

    def _points(self, points: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points from 0 to 1 and their weights: those of Gauss in the angle by which embeddings turn."""
        start = self.start[self.content].double().cpu().numpy()
        change = self.end[self.content].double().cpu().numpy() - start
        long = (change**2).sum(-1)
        start, change, long = (part[long > 0] for part in (start, change, long))
        if not len(long):
            return _turning(points, 0.5, 1e3)  # evenly, for nothing changes
        nearest = -(start * change).sum(-1) / long
        aside = np.sqrt(np.maximum((start**2).sum(-1) / long - nearest**2, _NARROWEST**2))
        return _turning(points, float(np.median(nearest)), float(np.median(aside)))


def _states(encoder: TextEncoder, embedded: Tensor, batch: Padded, layers: Sequence[int]) -> Tensor:
    """The states (layers, points, width) of embeddings (points, pieces, tokens, width), pieces averaged."""
    points, pieces = embedded.shape[:2]
    inputs = {"inputs_embeds": embedded.flatten(0, 1)}
    for name, part in (("attention_mask", batch.mask), ("token_type_ids", batch.types)):
        if part is not None:
            inputs[name] = torch.from_numpy(part).to(embedded.device).repeat(points, 1)
    states = encoder.pooled(inputs, layers)
    return states.reshape(len(states), points, pieces, -1).mean(2)


def _places(tokens: Tokens) -> Tokens:
    """Instead of each token its number, and -1 for what is put around the text."""
    frame = tokens.frame
    frame = replace(frame, pad=-1, prefix=(-1,) * len(frame.prefix), suffix=(-1,) * len(frame.suffix))
    return Tokens(np.arange(len(tokens.ids)), tokens.ptr, frame, max_tokens=tokens.max_tokens, chunks=tokens.chunks)


def _blank(tokenizer: Any) -> int:
    """The token that stands for any other."""
    known = (tokenizer.mask_token_id, tokenizer.unk_token_id, tokenizer.pad_token_id, 0)
    return int(next(token for token in known if token is not None))


def _spans(tokenizer: Any, text: str, count: int) -> Spans:
    """Where the first tokens stand in the text."""
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=True, max_length=count)
    return np.array(found["offset_mapping"], np.int64).reshape(-1, 2)


def _turning(points: int, nearest: float, aside: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points from 0 to 1 and weights for integrals, spread by the angle under which they are seen from aside."""
    at, weight = np.polynomial.legendre.leggauss(points)
    first, last = np.arctan((np.array([0.0, 1.0]) - nearest) / aside)
    angle, half = first + (last - first) * (at + 1) / 2, (last - first) / 2
    return nearest + aside * np.tan(angle), weight * half * aside / np.cos(angle) ** 2
