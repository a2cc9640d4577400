from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("transformers", reason="needs the extra 'neural'")

from treetop.neural.costs import EncoderCosts, Speed, try_out
from treetop.neural.memory import Head
from treetop.neural.settings import OptimConfig
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderConfig, EncoderSize

SIZE = EncoderSize(parameters=1_000_000, width=48, layers=6, attention_heads=2)
ENCODER = EncoderConfig(name="any", max_tokens=100)
COSTS = EncoderCosts(Speed(reading=1e-3, learning=3e-3, update=1e-9), SIZE, ENCODER, texts=1000, tokens=50.0)
OPTIM = OptimConfig(epochs=2, batch_size=10)


def test_reading_takes_every_layer_for_every_token() -> None:
    assert COSTS.reading().seconds == pytest.approx(1000 * 50 * 6 * 1e-3)
    assert COSTS.of(10).reading("rank").title == "rank"
    assert COSTS.of(10).reading("rank").seconds == pytest.approx(10 * 50 * 6 * 1e-3)


def test_another_engine_reads_quicker_where_it_is_worth_exporting_for() -> None:
    few, many = COSTS.of(1_999), COSTS.of(100_000)
    assert replace(few, exports=True).reading() == few.reading()
    assert replace(many, exports=True).reading().seconds < many.reading().seconds / 4
    watched = [replace(costs, exports=True).learning(OPTIM, [], dev_share=0.1) for costs in (few, many)]
    assert watched == [costs.learning(OPTIM, [], dev_share=0.1) for costs in (few, many)]


def test_learning_takes_steps_of_texts_and_updates() -> None:
    expected = 2 * 1000 * 50 * 6 * 3e-3 + 200 * 1_000_000 * 1e-9
    assert COSTS.learning(OPTIM, []).seconds == pytest.approx(expected)
    assert COSTS.learning(replace(OPTIM, steps=50, epochs=0), []).seconds == pytest.approx(expected / 4)
    short = COSTS.learning(replace(OPTIM, progressive=(25, 50)), []).seconds
    assert short == pytest.approx(0.75 * (expected - 0.2) + 0.2)
    watched = COSTS.learning(OPTIM, [], dev_share=0.1).seconds
    assert watched - expected == pytest.approx(2 * 0.1 * COSTS.reading().seconds)


def test_heads_that_score_every_node_count_and_others_hardly_do() -> None:
    bare = COSTS.learning(OPTIM, []).seconds
    assert COSTS.learning(OPTIM, [Head(10**6, 48)]).seconds == bare
    assert COSTS.learning(OPTIM, [Head(10**4, 48, by_rows=False)]).seconds > bare


def test_frozen_layers_learn_nothing_and_kept_ones_run_once() -> None:
    frozen = replace(COSTS, config=replace(ENCODER, freeze=4))
    kept = replace(COSTS, config=replace(ENCODER, freeze=4, keep_frozen=True))
    assert kept.reading().seconds == pytest.approx(COSTS.reading().seconds / 3)
    assert [stage.title for stage in kept.opening()] == ["tokenise", "frozen layers"]
    assert kept.opening()[1].seconds == pytest.approx(2 * kept.reading().seconds)
    assert kept.learning(OPTIM, []).seconds < frozen.learning(OPTIM, []).seconds < COSTS.learning(OPTIM, []).seconds


def test_several_processes_share_the_texts_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each moves all weights."""
    steps = OPTIM.epochs * -(-COSTS.texts // OPTIM.batch_size)
    alone, moving = COSTS.learning(OPTIM, []).seconds, steps * COSTS._update([])
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert COSTS.learning(OPTIM, []).seconds == pytest.approx((alone - moving) / 4 + moving)


def test_a_layer_is_tried_out() -> None:
    import torch

    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    speed = try_out(SIZE, 16, Runtime(threads=1))
    assert min(speed.reading, speed.learning, speed.update) > 0
    assert torch.equal(torch.random.get_rng_state(), before)  # a run that is planned learns the same as one that is not
