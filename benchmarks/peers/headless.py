"""An encoder in the one training loop without a head, to tell what heads cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import median

from torch import Tensor, nn

from treetop.data import Dataset
from treetop.neural.examples import Batch, Examples
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.settings import OptimConfig
from treetop.neural.training import TrainingLog, fine_tune
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder

__all__ = ["step_cpu", "tune_headless"]


class Headless(nn.Module):
    """The encoder alone, learning nothing in particular."""

    def __init__(self, encoder: TextEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def loss(self, batch: Batch) -> Tensor:
        """Some number that depends on all of the encoder."""
        loss: Tensor = self.encoder(batch.tokens).square().mean()
        return loss

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """The encoder's."""
        return group_parameters(self, self.encoder, config)


def step_cpu(log: TrainingLog) -> float:
    """CPU-seconds of a step: a median, so that neither the first touch of the weights nor the end counts."""
    spent: list[float] = [record["cpu_seconds"] for record in log.records]
    return median(after - before for before, after in pairwise(spent))


def tune_headless(encoder: TextEncoder, data: Dataset, optim: OptimConfig, runtime: Runtime) -> TrainingLog:
    """As many steps as the method took, on as many of the same texts."""
    some = data.take(range(min(len(data), 32 * optim.batch_size * max(1, optim.steps))))
    examples = Examples(encoder.tokenize(some.corpus.texts, runtime=runtime), [some.labels])
    return fine_tune(Headless(encoder), examples, replace(optim, average="none"), runtime)
