"""Batches for models with an encoder: a queue that has an end, and one thread that answers what has queued.

Several texts are read together at hardly more cost than one, and more threads would only take cores from one another.
A batch is what is waiting, first come first served, up to a budget of tokens, of requests that ask the same of the same
model; so an answer does not depend on who else is asking. A request with many texts is cut into pieces, so that others
need not wait for all of it. Whoever has gone away, or has waited too long, is left out.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError
from treetop.predictions import Predictions

__all__ = ["Batcher", "Piece", "pieces_of"]

_CHARACTERS_PER_TOKEN = 4
_ENDS = 2
_FORGET = 0.2  # how much the newest batch counts for the texts per second
_LONGEST_WAIT = 60
_PAUSE = 0.1  # of the time that the last batch took: how long those who were in it have to ask again, at most
_LULL = 0.001  # seconds without another text after which nobody is waited for


@dataclass(eq=False)
class Piece:
    """Texts that are answered together, and who waits for it."""

    model: ServedModel
    texts: Sequence[str]
    k: int
    labels: tuple[str, ...] | None
    tokens: int
    answer: asyncio.Future[Predictions]
    since: float = field(default_factory=time.monotonic)
    gone: bool = False

    @property
    def question(self) -> tuple[ServedModel, int, tuple[str, ...] | None]:
        """What may be answered in one batch."""
        return self.model, self.k, self.labels

    def drop(self) -> None:
        """Nobody waits any more. An error that nobody heard of is taken note of, or asyncio would log it."""
        self.gone = True
        if self.answer.done() and not self.answer.cancelled():
            self.answer.exception()
        else:
            self.answer.cancel()


def pieces_of(
    model: ServedModel, texts: Sequence[str], k: int, labels: tuple[str, ...] | None, budget: int
) -> list[Piece]:
    """A request in pieces within the budget; tokens are guessed from characters."""
    loop, found, start, tokens = asyncio.get_running_loop(), [], 0, 0
    for place, text in enumerate(texts):
        size = min(len(text) // _CHARACTERS_PER_TOKEN + _ENDS, model.most_tokens)
        if place > start and tokens + size > budget:
            found.append(Piece(model, texts[start:place], k, labels, tokens, loop.create_future()))
            start, tokens = place, 0
        tokens += size
    return [*found, Piece(model, texts[start:], k, labels, tokens, loop.create_future())]


class Batcher:
    """The queue and its thread; `told(piece_seconds, spent)` hears how long things took."""

    def __init__(self, limit: int, budget: int, told: Callable[[str, float], None]) -> None:
        self.limit, self.budget, self.told = limit, budget, told
        self.waiting = 0
        self._pieces: deque[Piece] = deque()
        self._changed = threading.Condition()
        self._speed = 0.0
        self._open_until = 0.0
        self._thread: threading.Thread | None = None

    def submit(self, pieces: Sequence[Piece]) -> None:
        """Queue the pieces of a request, or refuse it if there is no room."""
        texts = sum(len(piece.texts) for piece in pieces)
        with self._changed:
            if self.waiting and self.waiting + texts > self.limit:
                raise ProblemError(
                    429, "too many texts are waiting; come back a little later",
                    headers={"retry-after": str(self.seconds_to_wait())},
                )  # fmt: skip
            self.waiting += texts
            self._pieces.extend(pieces)
            self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="treetop-batches", daemon=True)
                self._thread.start()

    def seconds_to_wait(self) -> int:
        """How long those who wait will take, going by the last batches."""
        return min(_LONGEST_WAIT, max(1, math.ceil(self.waiting / self._speed))) if self._speed else 1

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pieces)
            self._let_come()
            batch = self._next()
            if batch:
                self._answer(batch)

    def _let_come(self) -> None:
        """Wait a moment for those who have just got their answers and ask again.

        Else they would come a moment too late, and there would be two camps for ever: while some are answered, the
        others queue, and every batch is smaller than it could be.
        """
        while time.monotonic() < self._open_until:
            before = self.waiting
            time.sleep(_LULL)
            if self.waiting == before:
                break

    def _next(self) -> list[Piece]:
        """What is answered next; those who have gone are dropped on the way."""
        with self._changed:
            batch: list[Piece] = []
            later: deque[Piece] = deque()
            tokens = 0
            while self._pieces:
                piece = self._pieces.popleft()
                if piece.gone:
                    self.waiting -= len(piece.texts)
                elif not batch or (piece.question == batch[0].question and tokens + piece.tokens <= self.budget):
                    batch.append(piece)
                    tokens += piece.tokens
                else:
                    later.append(piece)
            self._pieces = later
            return batch

    def _answer(self, batch: list[Piece]) -> None:
        start = time.monotonic()
        for piece in batch:
            self.told("queue", start - piece.since)
        texts = [text for piece in batch for text in piece.texts]
        model, k, labels = batch[0].question
        try:
            found: Predictions | Exception = model.predict(texts, k, labels, self.told)
        except Exception as error:  # of whatever kind: it goes to those who asked
            found = error
        end = time.monotonic()
        speed = len(texts) / max(end - start, 1e-6)
        self._open_until = end + _PAUSE * (end - start) if len(batch) > 1 else 0.0
        with self._changed:
            self._speed += (speed - self._speed) * (_FORGET if self._speed else 1.0)
            self.waiting -= len(texts)
        _give_all(batch, found)


def _give_all(batch: Sequence[Piece], found: Predictions | Exception) -> None:
    """Hand answers over to the loops of those who asked, as far as these still run: one call for each loop."""
    answers: dict[asyncio.AbstractEventLoop, list[tuple[Piece, Predictions | Exception]]] = {}
    first = 0
    for piece in batch:
        last = first + len(piece.texts)
        own = found if isinstance(found, Exception) else found[first:last]
        answers.setdefault(piece.answer.get_loop(), []).append((piece, own))
        first = last
    for loop, those in answers.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_give, those)


def _give(answers: Sequence[tuple[Piece, Predictions | Exception]]) -> None:
    for piece, found in answers:
        if piece.answer.done():
            continue
        if isinstance(found, Exception):
            piece.answer.set_exception(found)
        else:
            piece.answer.set_result(found)
