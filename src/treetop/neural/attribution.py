"""What each token of a text adds to a number that a network makes of it: integrated gradients.

Between a text whose tokens are all masked, x', and the text itself, x, as embeddings of tokens,

    token i adds  ∫₀¹ <x_i - x'_i, ∂F(x' + a(x - x')) / ∂x_i> da,     all together F(x) - F(x')

(Sundararajan, Taly, Yan: Axiomatic attribution for deep networks, ICML 2017). Networks go from reading masks to reading
words within a short part of the path, a quarter of the way, whatever the text: so it was for MiniLM and GTE, as they
come and tuned. The integral is a Gauss sum over the angle

    φ(a) = atan((a - ¼) / 0.15)

so that points are close where the network changes fast. If the sum misses the difference by more than 5 % there are
more of them. Gradients are taken in 16 bits where these are faster, which changes a sum of six points by far less than
the points do; ends of the path, and the last and longest sum, are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.occurrences import Spans
from treetop.text.precision import supports_bfloat16
from treetop.text.threads import threads
from treetop.text.tokens import Padded, Tokens

__all__ = ["Attribution", "attribute"]

_POINTS = (6, 10, 16, 32)  # with 5 some texts of a real encoder miss by more than is tolerated
_TURN, _WIDTH = 0.25, 0.15  # where on the path networks change fastest, and over how much of it
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
                found = path.integrate(points, _few_bits(encoder, points))
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

    def integrate(self, points: int, bits: AbstractContextManager[None]) -> Attribution:
        """What tokens add by a sum over so many points, taken in some format of numbers."""
        change = self.end - self.start
        at, weight = (torch.tensor(part, dtype=change.dtype, device=change.device) for part in _spread(points))
        between = (self.start + at[:, None, None, None] * change).requires_grad_()
        with bits:
            values = self.values(between)
        adds = np.zeros((values.shape[1], self.tokens))
        for number in range(values.shape[1]):
            last = number == values.shape[1] - 1
            slope = torch.autograd.grad(values[:, number].sum(), between, retain_graph=not last)[0]
            of_place = ((slope * weight[:, None, None, None]).sum(0) * change).sum(-1)
            adds[number, self.places[self.places >= 0]] = of_place[self.content].double().cpu().numpy()
        return Attribution(self.spans, adds[:, : len(self.spans)], self.ends[1], self.ends[0])


def _few_bits(encoder: TextEncoder, points: int) -> AbstractContextManager[None]:
    """16 bits where they are faster, but not for the longest sum, which has the last word."""
    kind = encoder.device.type
    return torch.autocast(kind, torch.bfloat16, enabled=points < _POINTS[-1] and supports_bfloat16(kind))


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


def _spread(points: int, turn: float = _TURN, width: float = _WIDTH) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points from 0 to 1 and weights for integrals: those of Gauss in the angle to a turn, seen from aside."""
    at, weight = np.polynomial.legendre.leggauss(points)
    first, last = np.arctan((np.array([0.0, 1.0]) - turn) / width)
    angle, half = first + (last - first) * (at + 1) / 2, (last - first) / 2
    return turn + width * np.tan(angle), weight * half * width / np.cos(angle) ** 2
