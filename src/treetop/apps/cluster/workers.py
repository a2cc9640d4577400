"""The pieces of a task, done by a Ray cluster.

The dearest pieces begin first. A piece whose process or machine is lost is done again elsewhere; one whose result is in
the shared folder is not done again at all, so a driver that was killed continues where it was. Nothing but numbers and
names goes through Ray's own store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import ray

from treetop.apps.cluster.shared import SharedFolder, get_task
from treetop.errors import ConfigError, ServiceError, TreetopError
from treetop.pieces import Arrays, Piece, Task
from treetop.version import __version__

__all__ = ["RayWorkers"]

T = TypeVar("T")

_RETRIES = 8  # of a piece that took its process or machine down with it, or went down with them
_LISTEN = 1.0  # seconds between looks whether the user has pressed Ctrl-C


class RayWorkers:
    """Machines that do the pieces of large work; see `treetop.pieces.Workers`."""

    def __init__(self, shared: Path) -> None:
        self.shared = SharedFolder(shared)
        self._token = self.shared.open()
        self._check_machines()

    def map(self, task: Task[T], pieces: Sequence[Piece[T]], advance: Callable[[int], object]) -> Iterator[Arrays]:
        """The results of all pieces, in their order."""
        name = self.shared.put_task(task)
        done = {number for number in range(len(pieces)) if self.shared.has_result(name, number)}
        for number in done:
            advance(pieces[number].steps)
        rest = sorted(set(range(len(pieces))) - done, key=lambda number: (-pieces[number].cost, number))
        threads = _threads_of_each(len(rest))
        work = ray.remote(_do_piece).options(num_cpus=threads, max_retries=_RETRIES)
        waiting: dict[ray.ObjectRef[str | None], int] = {
            work.remote(self.shared.path, self._token, name, number, pieces[number].item, threads): number
            for number in rest
        }
        for number in range(len(pieces)):
            while number not in done:
                finished = self._finished(waiting)
                advance(sum(pieces[one].steps for one in finished))
                done |= finished
            yield self.shared.result(name, number)

    def _finished(self, waiting: dict[ray.ObjectRef[str | None], int]) -> set[int]:
        """The pieces that have been done since; a problem of one ends the work."""
        ready, _ = ray.wait(list(waiting), num_returns=1, timeout=_LISTEN, fetch_local=False)
        for reference in ready:
            problem = _answer(reference)
            if problem is not None:
                for other in waiting:
                    ray.cancel(other)
                raise ServiceError(f"{problem}; run the same command again: what is done stays done", 0)
        return {waiting.pop(reference) for reference in ready}

    def _check_machines(self) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        look = ray.remote(_look_around)
        for node in ray.nodes():
            if not node["Alive"]:
                continue
            here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            asked = look.options(num_cpus=0, scheduling_strategy=here).remote(self.shared.path, self._token)
            problem = _answer(asked)
            if problem is not None:
                raise ConfigError(problem)


def _threads_of_each(pieces: int) -> int:
    """One, or more where there are fewer pieces than processors."""
    nodes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    most = min((cpus for cpus in nodes if cpus), default=1)
    return max(1, min(most, sum(nodes) // max(1, pieces)))


def _answer(reference: ray.ObjectRef[str | None]) -> str | None:
    try:
        problem: str | None = ray.get(reference)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        return f"the cluster lost a piece of work {_RETRIES + 1} times ({type(error).__name__}); look at its machines"
    except ray.exceptions.RayTaskError as error:
        raise error.cause if isinstance(error.cause, Exception) else error from None
    return problem


def _machine() -> str:
    return str(ray.util.get_node_ip_address())


def _look_around(shared: Path, token: str) -> str | None:
    """Whether this machine can take part."""
    try:
        SharedFolder(shared).check(token, _machine())
    except TreetopError as error:
        return str(error)
    return None


def _do_piece(shared: Path, token: str, name: str, number: int, item: Any, threads: int) -> str | None:
    """Do a piece, unless it is done; what went wrong, if it is for people to mend."""
    folder = SharedFolder(shared)
    try:
        folder.check(token, _machine())
        if not folder.has_result(name, number):
            folder.put_result(name, number, get_task(shared, name)(item, threads, lambda _: None))
    except (TreetopError, OSError) as error:
        return f"{error} (machine {_machine()}, treetop {__version__})"
    return None
