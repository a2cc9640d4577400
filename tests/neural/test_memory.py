from __future__ import annotations

from dataclasses import replace

import pytest

from treetop.neural.memory import Head, free_on, needed_memory
from treetop.neural.settings import OptimConfig
from treetop.text.encoder import EncoderConfig, EncoderSize

BERT = EncoderSize(parameters=110_000_000, width=768, layers=12, attention_heads=12)
PLAIN, OPTIM = EncoderConfig(max_tokens=128), OptimConfig(batch_size=32)


def test_the_parts_of_the_formula() -> None:
    none = needed_memory(BERT, PLAIN, replace(OPTIM, batch_size=1), [])
    activations = 128 * 12 * (68 * 768 + 10 * 12 * 128)
    assert none == 16 * BERT.parameters + activations
    assert needed_memory(BERT, PLAIN, OPTIM, []) - none == 31 * activations
    head = [Head(670_000, 768)]
    assert needed_memory(BERT, PLAIN, OPTIM, head) - needed_memory(BERT, PLAIN, OPTIM, []) == 12 * 670_000 * 768
    dense = [Head(670_000, 768, by_rows=False)]
    assert needed_memory(BERT, PLAIN, OPTIM, dense) - needed_memory(BERT, PLAIN, OPTIM, []) == 16 * 670_000 * 768
    full = [Head(670_000, 768, by_rows=False, full=True)]
    assert needed_memory(BERT, PLAIN, OPTIM, full) - needed_memory(BERT, PLAIN, OPTIM, []) == 4 * 670_000 * (768 + 32)


@pytest.mark.parametrize(
    ("encoder", "optim"),
    [
        (replace(PLAIN, max_tokens=64), OPTIM),
        (replace(PLAIN, freeze=6), OPTIM),
        (replace(PLAIN, checkpointing=True), OPTIM),
        (PLAIN, replace(OPTIM, batch_size=8)),
        (PLAIN, replace(OPTIM, second_moment="row")),
    ],
    ids=["tokens", "freeze", "checkpointing", "batch", "moment"],
)
def test_what_the_advice_names_helps(encoder: EncoderConfig, optim: OptimConfig) -> None:
    heads = [Head(1_000_000, 400)]
    assert needed_memory(BERT, encoder, optim, heads) < needed_memory(BERT, PLAIN, OPTIM, heads)


def test_averages_and_the_best_weights_are_copies() -> None:
    copy = 4 * BERT.parameters
    plain = needed_memory(BERT, PLAIN, OPTIM, [])
    assert needed_memory(BERT, PLAIN, replace(OPTIM, average="swa"), []) == plain + copy
    assert needed_memory(BERT, PLAIN, OPTIM, [], keeps_best=True) == plain + copy


def test_the_memory_of_a_cpu_is_the_machines() -> None:
    assert free_on("cpu") is None
