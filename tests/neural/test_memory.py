from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from treetop.neural.memory import Head, free_on, needed_memory
from treetop.neural.optimiser import RowAdamW
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


def test_heads_of_three_million_labels() -> None:
    """As docs/encoder.md says of CascadeXML: with two moments, with one of them a number per row, and divided."""
    head, none = [Head(2_812_281, 768)], needed_memory(BERT, PLAIN, OPTIM, [])

    def gigabytes(optim: OptimConfig, processes: int = 1) -> float:
        return (needed_memory(BERT, PLAIN, optim, head, processes=processes) - none) / 1e9

    divided = replace(OPTIM, heads="divided")
    assert gigabytes(OPTIM) == gigabytes(OPTIM, 8) == pytest.approx(25.9, abs=0.1)
    assert gigabytes(replace(OPTIM, second_moment="row")) == pytest.approx(17.3, abs=0.1)
    assert gigabytes(divided, 8) == pytest.approx(25.9 / 8, abs=0.1)
    dense = [Head(8192, 768, by_rows=False)]
    assert needed_memory(BERT, PLAIN, divided, dense, processes=8) == needed_memory(BERT, PLAIN, OPTIM, dense)


def test_a_step_of_rows_keeps_what_the_formula_says() -> None:
    rows, width = 5000, 16
    for moment, expected in (("element", 3 * width), ("row", 2 * width)):
        weight = torch.nn.Parameter(torch.zeros(rows, width))
        optimiser = RowAdamW([{"params": [weight]}], second_moment=moment)
        weight.grad = torch.sparse_coo_tensor(torch.tensor([[3, 7]]), torch.ones(2, width), weight.shape)
        optimiser.step()
        kept = weight.nbytes + sum(value.nbytes for value in optimiser.state[weight].values())
        assert 4 * rows * expected < kept <= 4 * rows * (expected + 3) + 8  # clocks beside them


def test_the_memory_of_a_cpu_is_the_machines() -> None:
    assert free_on("cpu") is None
