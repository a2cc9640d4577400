"""What each token of a text adds to a number that a network makes of it: integrated gradients.

Between a text whose tokens are all masked, x', and the text itself, x, as embeddings of tokens,

    token i adds  ∫₀¹ <x_i - x'_i, ∂F(x' + a(x - x')) / ∂x_i> da,     all together F(x) - F(x')

(Sundararajan, Taly, Yan: Axiomatic attribution for deep networks, ICML 2017). The integral is a Gauss-Lobatto sum: both
ends are among its points, so what it must add up to comes with it. If it misses by more than 5 % there are more points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
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

_POINTS = (10, 16, 32)  # with 8 most texts of a real encoder miss by more than is tolerated
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
            tokens = encoder.tokenize([text])
            for points in _POINTS:
                found = _integrate(encoder, text, tokens, layers, numbers, points)
                if np.all(found.gap <= _TOLERATED):
                    break
            return found
    finally:
        encoder.train(was_training)


def _integrate(
    encoder: TextEncoder,
    text: str,
    tokens: Tokens,
    layers: Sequence[int],
    numbers: Callable[[Tensor], Tensor],
    points: int,
) -> Attribution:
    row = np.array([0])
    batch, places = tokens.pad(row), _places(tokens).pad(row).ids
    content = torch.from_numpy(places >= 0).to(encoder.device)
    ids = torch.from_numpy(batch.ids).to(encoder.device)
    with torch.no_grad():
        embedded = encoder.model.get_input_embeddings()
        end, start = embedded(ids), embedded(torch.where(content, _blank(encoder.tokenizer), ids))
    at, weight = (torch.tensor(part, dtype=end.dtype, device=end.device) for part in _lobatto(points))
    between = (start + at[:, None, None, None] * (end - start)).requires_grad_()
    values = numbers(_states(encoder, between, batch, layers))
    adds = np.zeros((values.shape[1], len(tokens.ids)))
    for number in range(values.shape[1]):
        last = number == values.shape[1] - 1
        slope = torch.autograd.grad(values[:, number].sum(), between, retain_graph=not last)[0]
        of_place = ((slope * weight[:, None, None, None]).sum(0) * (end - start)).sum(-1)
        adds[number, places[places >= 0]] = of_place[content].double().cpu().numpy()
    ends = values.detach().double().cpu().numpy()
    spans = _spans(encoder.tokenizer, text, len(tokens.ids))
    return Attribution(spans, adds[:, : len(spans)], ends[-1], ends[0])


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


@cache
def _lobatto(points: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points from 0 to 1, both among them, and their weights: exact for polynomials of degree 2 · points - 3."""
    polynomial = np.polynomial.Legendre.basis(points - 1)
    at = np.concatenate([[-1.0], np.sort(polynomial.deriv().roots().real), [1.0]])
    return (at + 1) / 2, 1 / (points * (points - 1) * polynomial(at) ** 2)
