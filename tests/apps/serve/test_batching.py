"""The queue: what is answered together, what is refused, who is left out."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from treetop.apps.serve.batching import Batcher, Piece, pieces_of
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError
from treetop.predictions import Predictions
from treetop.runtime import Runtime

TEXTS = [f"topic{n % 6} word{n % 6}x{n % 7}x0" for n in range(12)]


class Watched(Batcher):
    """Tells what was answered together, and waits at a gate before it answers."""

    def __init__(self, limit: int = 100, budget: int = 10_000) -> None:
        super().__init__(limit, budget, lambda stage, seconds: None)
        self.batches: list[list[Piece]] = []
        self.taken, self.gate = threading.Event(), threading.Event()

    def _answer(self, batch: list[Piece]) -> None:
        self.batches.append(batch)
        self.taken.set()
        assert self.gate.wait(60)
        super()._answer(batch)


@pytest.fixture(scope="module")
def model(model_folder: Path) -> ServedModel:
    return ServedModel.load("toy", model_folder, Runtime(threads=1))


def ask(queue: Batcher, model: ServedModel, texts: list[str], k: int = 5, **more: Any) -> list[Piece]:
    pieces = pieces_of(model, texts, k, more.get("labels"), queue.budget)
    queue.submit(pieces)
    return pieces


def queued(queue: Watched, act: Callable[[], Awaitable[Any]]) -> Any:
    """Act while the thread is held up by a first batch."""

    async def run() -> Any:
        try:
            return await act()
        finally:
            queue.gate.set()

    return asyncio.run(run())


async def hold(queue: Watched, model: ServedModel) -> Piece:
    (first,) = ask(queue, model, ["topic1"])
    await asyncio.get_running_loop().run_in_executor(None, queue.taken.wait, 60)
    return first


def test_what_waits_is_answered_together_and_as_if_alone(model: ServedModel) -> None:
    queue = Watched()

    async def act() -> list[Predictions]:
        first = await hold(queue, model)
        pieces = [piece for text in TEXTS for piece in ask(queue, model, [text])]
        other = ask(queue, model, [TEXTS[0]], 3)
        queue.gate.set()
        return [await piece.answer for piece in [first, *pieces, *other]]

    answers = queued(queue, act)
    assert [len(batch) for batch in queue.batches] == [1, 12, 1]
    for text, answer in zip(TEXTS, answers[1:13], strict=True):
        assert answer == model.predict([text], 5)
    assert answers[13] == model.predict([TEXTS[0]], 3)
    assert queue.waiting == 0


def test_batches_and_pieces_keep_to_the_budget(model: ServedModel) -> None:
    queue = Watched(budget=20)

    async def act() -> list[Piece]:
        await hold(queue, model)
        pieces = ask(queue, model, ["x" * 24] * 7)  # 8 tokens each
        queue.gate.set()
        for piece in pieces:
            await piece.answer
        return pieces

    assert [len(piece.texts) for piece in queued(queue, act)] == [2, 2, 2, 1]
    assert [sum(piece.tokens for piece in batch) for batch in queue.batches[1:]] == [16, 16, 16, 8]


def test_a_full_queue_refuses_and_says_when_to_come_back(model: ServedModel) -> None:
    queue = Watched(limit=10)

    async def act() -> ProblemError:
        await hold(queue, model)
        ask(queue, model, TEXTS[:9])
        with pytest.raises(ProblemError) as refused:
            ask(queue, model, TEXTS[:1])
        return refused.value

    problem = queued(queue, act)
    assert problem.status == 429
    assert int(problem.headers["retry-after"]) >= 1


def test_a_large_request_is_taken_where_nobody_waits(model: ServedModel) -> None:
    queue = Watched(limit=2)
    queue.gate.set()

    async def act() -> int:
        (piece,) = ask(queue, model, TEXTS)
        return len(await piece.answer)

    assert queued(queue, act) == len(TEXTS)


def test_whoever_has_gone_is_left_out(model: ServedModel) -> None:
    queue = Watched()

    async def act() -> None:
        await hold(queue, model)
        (gone,) = ask(queue, model, ["topic2"])
        (stays,) = ask(queue, model, ["topic3"])
        gone.gone = True
        queue.gate.set()
        await stays.answer

    queued(queue, act)
    assert [batch[0].texts for batch in queue.batches] == [["topic1"], ["topic3"]]
    assert queue.waiting == 0


def test_an_error_goes_to_those_who_asked_and_the_queue_lives_on(model: ServedModel) -> None:
    queue = Watched()
    queue.gate.set()

    async def act() -> Predictions:
        (wrong,) = ask(queue, model, ["topic1"], labels=("no such label",))
        with pytest.raises(Exception, match="no such label"):
            await wrong.answer
        (right,) = ask(queue, model, ["topic1"])
        return await right.answer

    assert queued(queue, act) == model.predict(["topic1"], 5)


def test_those_who_were_answered_together_may_ask_together_again(
    model: ServedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, awaited, come = Watched(), threading.Event(), threading.Event()

    def sleep(seconds: float) -> None:  # the moment in which the thread waits for more
        del seconds
        awaited.set()
        assert come.wait(60)

    async def act() -> None:
        queue._open_until = math.inf
        first = ask(queue, model, ["topic1"])
        await asyncio.get_running_loop().run_in_executor(None, awaited.wait, 60)
        more = ask(queue, model, ["topic2", "topic3"])
        queue._open_until = 0.0
        come.set()
        queue.gate.set()
        for piece in (*first, *more):
            await piece.answer

    monkeypatch.setattr("treetop.apps.serve.batching.time.sleep", sleep)
    queued(queue, act)
    assert [len(batch) for batch in queue.batches] == [2]


def test_an_error_that_nobody_waits_for_is_not_logged(model: ServedModel, caplog: pytest.LogCaptureFixture) -> None:
    async def act() -> None:
        pieces = pieces_of(model, ["topic1", "topic2"], 3, None, 1)
        pieces[0].answer.set_exception(ValueError("a text"))
        for piece in pieces:
            piece.drop()
        assert pieces[1].answer.cancelled()
        del pieces, piece
        gc.collect()

    asyncio.run(act())
    assert not caplog.records
