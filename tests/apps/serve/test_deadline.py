"""Deadlines: the right status for who was slow."""

from __future__ import annotations

import asyncio

import pytest

from treetop.apps.serve.deadline import Deadline


async def run(seconds: float, *, reading: bool) -> int:
    deadline = Deadline(seconds)
    deadline.reading = reading
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return deadline.problem().status
    finally:
        deadline.end()
    return 0


def test_a_slow_client_and_a_busy_service() -> None:
    assert asyncio.run(run(0.01, reading=True)) == 408
    assert asyncio.run(run(0.01, reading=False)) == 429


def test_whoever_else_cancels_is_heard() -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(run(60, reading=True))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_who_is_in_time_is_left_alone() -> None:
    async def quick() -> str:
        Deadline(0.01).end()
        await asyncio.sleep(0.05)
        return "done"

    assert asyncio.run(quick()) == "done"
