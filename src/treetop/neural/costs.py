"""How long an encoder takes to read and to learn, before it begins: one of its layers is tried out on this machine.

With s seconds per token and layer, an encoder of L layers reads T tokens in s·L·T seconds, another engine than torch in
a part of that; learning takes as many, the gradients of those layers that learn, and the update of every weight. Right
to about a third.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn

from treetop.neural.memory import Head
from treetop.neural.settings import OptimConfig
from treetop.progress import Stage
from treetop.runtime import Runtime, processes
from treetop.text.encoder import EncoderConfig, EncoderSize
from treetop.text.precision import autocast
from treetop.text.reading.choosing import WORTH_EXPORTING
from treetop.text.threads import threads

__all__ = ["EncoderCosts", "Speed", "try_out"]

_TRIED = 1024  # tokens that the layer is tried out on
_UPDATED = 2**20  # parameters that an update is tried out on
_PER_TOKEN = 2e-6  # seconds to tokenise one, on one core
_OF_TORCH = 0.2  # of torch's time, what another engine takes to read in 8 bits
_EXPORT = 2.5  # seconds to export a layer of the encoder for it
_PER_PRODUCT = 2.5e-10  # seconds of a linear start for a text, a node and a number of the embedding


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds of this machine: a layer reading a token, the same with gradients, the update of a parameter."""

    reading: float
    learning: float
    update: float


def try_out(size: EncoderSize, tokens: int, runtime: Runtime) -> Speed:
    """Time one layer of the encoder's size on texts of that many tokens."""
    with torch.random.fork_rng(devices=[]), threads(runtime), autocast(runtime):
        layer = nn.TransformerEncoderLayer(
            size.width, size.attention_heads, 4 * size.width, dropout=0.1, activation="gelu", batch_first=True
        ).to(runtime.device)
        states = torch.randn(max(1, _TRIED // tokens), tokens, size.width, device=runtime.device)
        weights = nn.Parameter(torch.randn(_UPDATED, device=runtime.device))
        weights.grad = torch.randn_like(weights)
        optimiser = torch.optim.AdamW([weights])
        tried = states.shape[0] * tokens
        return Speed(
            reading=_seconds(lambda: _read(layer, states)) / tried,
            learning=_seconds(lambda: layer(states).sum().backward()) / tried,
            update=_seconds(optimiser.step) / _UPDATED,
        )


@torch.no_grad()
def _read(layer: nn.Module, states: torch.Tensor) -> None:
    layer(states)


def _seconds(work: Callable[[], object]) -> float:
    """The quicker of two tries, after one that does not count."""
    work()
    tries = []
    for _ in range(2):
        began = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        tries.append(time.perf_counter() - began)
    return min(tries)


@dataclass(frozen=True, slots=True)
class EncoderCosts:
    """Stages of reading and learning, for an encoder and texts of a mean number of tokens."""

    speed: Speed
    size: EncoderSize
    config: EncoderConfig
    texts: int
    tokens: float
    cores: int = 1
    exports: bool = False
    """Whether another engine than torch reads."""

    @property
    def _frozen(self) -> int:
        return self.config.frozen(self.size.layers)

    @property
    def _run(self) -> int:
        """Layers that run each time: what frozen ones return may be kept."""
        return self.size.layers - self._frozen if self.config.keep_frozen else self.size.layers

    def opening(self) -> list[Stage]:
        """Tokenising, and what frozen layers do once."""
        stages = [Stage("tokenise", _PER_TOKEN * self.texts * self.tokens / self.cores)]
        if self.config.keep_frozen:
            stages.append(Stage("frozen layers", self._read(self.texts, self._frozen, self._frozen)))
        return stages

    def reading(self, title: str = "embed", share: float = 1.0) -> Stage:
        """Reading (a share of) the texts once, without learning."""
        return Stage(title, self._read(share * self.texts, self._run, self.size.layers))

    def _read(self, texts: float, by_torch: int, by_engine: int) -> float:
        """Seconds to read texts by so many layers: engines always read by all of those that they have."""
        of_layer = texts * self.tokens * self.speed.reading
        if self.exports and texts >= WORTH_EXPORTING:
            return by_engine * (of_layer * _OF_TORCH + _EXPORT)
        return by_torch * of_layer

    def starting(self, nodes: float, width: int | None = None) -> Stage:
        """A linear start of that many nodes against each text."""
        work = self.texts * nodes * (width or self.size.width) * _PER_PRODUCT
        return Stage("linear start", work / self.cores**0.8)

    def learning(
        self, optim: OptimConfig, heads: Sequence[Head], *, title: str = "fine-tune", dev_share: float = 0.0
    ) -> Stage:
        """Learning for as many steps as the settings say, and looking at dev texts in between."""
        texts = optim.batch_size * optim.accumulate  # of a step, which several processes share
        steps = optim.steps or optim.epochs * -(-self.texts // texts)
        once = min(texts, self.texts) / processes() * self._of_text(optim, heads) + self._update(heads)
        look = replace(self, exports=False).reading(share=dev_share)  # torch reads an encoder that goes on learning
        looks = look.seconds * steps * texts / max(1, self.texts)
        return Stage(title, steps * once + looks)

    def _of_text(self, optim: OptimConfig, heads: Sequence[Head]) -> float:
        """Seconds of one text in a step: layers that learn, those that only run, and heads that score all nodes."""
        limits = optim.progressive or (self.config.max_tokens * self.config.chunks,)
        tokens = sum(min(self.tokens, limit) for limit in limits) / len(limits)
        learns = self.size.layers - self._frozen
        again = self.speed.reading * learns if self.config.checkpointing else 0.0
        encoder = learns * self.speed.learning + (self._run - learns) * self.speed.reading + again
        product = self.speed.reading / (12 * self.size.width**2)  # of two numbers; a layer has that many per token
        return tokens * encoder + 3 * product * sum(head.rows * head.width for head in heads if not head.by_rows)

    def _update(self, heads: Sequence[Head]) -> float:
        share = 1 - self._frozen / max(1, self.size.layers)
        full = sum(head.rows * head.width for head in heads if not head.by_rows)
        return self.speed.update * (self.size.parameters * share + full)

    def of(self, texts: int) -> EncoderCosts:
        """The same for another number of texts."""
        return replace(self, texts=texts)
