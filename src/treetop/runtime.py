"""Where and how fast a run happens, as a value that is passed along; never part of what is learned."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TypeVar, cast

from treetop.config import check_whole
from treetop.errors import ConfigError
from treetop.pieces import Arrays, Piece, Task, Workers
from treetop.progress import Advance, Lines, Logged, Progress, Terminal

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["Meter", "Runtime", "available_cores", "available_memory", "cores_of", "is_leader", "processes"]

T = TypeVar("T")

_MOST_THREADS = 4096
_PRECISIONS = ("float32", "bfloat16", "float16")
_SEEDS = 2**62  # random generators take 64 bits, and some parts add a little to the seed


@dataclass(frozen=True, kw_only=True, slots=True)
class Runtime:
    """Seed, threads, device and whether to show progress.

    The same seed gives the same linear model on any thread count. A network's sums are rounded differently by another
    number of threads, so its result is equal to the last bit only for the same number.
    """

    seed: int = 0
    """Start of every random choice."""
    threads: int = 0
    """Threads of the native kernels; 0 means every core this process may use."""
    device: str = "cpu"
    """Where networks run, in torch's words."""
    precision: str = "float32"
    """Number format of networks, in training and when they read: float32, bfloat16, or float16 for older GPUs."""
    progress: Progress | bool = field(default=False, compare=False)
    """Who is told how far a run is: True means standard error, with a bar on a terminal and line by line elsewhere;
    False the log of the name `treetop`, for programs; or any `Progress`, of which a plain one tells nobody."""
    workers: Workers | None = field(default=None, compare=False)
    """Who does the pieces of large work, if not this process: a cluster. The result is the same."""
    scratch: Path | None = field(default=None, compare=False)
    """A folder on a disk for what is too large for memory while it is made; None is the system's for such files."""

    def __post_init__(self) -> None:
        _check_threads(self.threads)
        check_whole("seed", self.seed)
        if not isinstance(self.device, str):
            raise ConfigError(f"device is {self.device!r}; give its name, such as 'cpu' or 'cuda:0'")
        if not 0 <= self.seed < _SEEDS:
            raise ConfigError(f"seed is {self.seed}; give a number from 0 to {_SEEDS - 1:,}")
        if self.precision not in _PRECISIONS:
            raise ConfigError(f"precision is '{self.precision}'; choose one of {', '.join(_PRECISIONS)}")
        if isinstance(self.progress, bool):
            object.__setattr__(self, "progress", _on_standard_error() if self.progress else Logged())

    @property
    def cores(self) -> int:
        """The number of threads to use, resolved."""
        return self.threads or available_cores()

    @property
    def told(self) -> Progress:
        """Who is told how far a run is."""
        return cast(Progress, self.progress)

    def bar(self, title: str, total: int | None = None, before: int = 0) -> AbstractContextManager[Advance]:
        """A stage of a run, as a function `advance(steps)`; `before` of its steps were done in an earlier run."""
        return self.told.stage(title, total, before)

    def map(self, title: str, task: Task[T], pieces: Sequence[Piece[T]]) -> Iterator[Arrays]:
        """The results of a task for each piece, in their order: done here by all threads, or by the workers."""
        with self.bar(title, sum(piece.steps for piece in pieces)) as advance:
            if self.workers is not None:
                yield from self.workers.map(task, pieces, advance)
                return
            for piece in pieces:
                yield task(piece.item, self.cores, advance)


def cores_of(threads: int) -> int:
    """So many threads, or for 0 as many as there are cores."""
    _check_threads(threads)
    return threads or available_cores()


def _check_threads(threads: int) -> None:
    check_whole("threads", threads)
    if not 0 <= threads <= _MOST_THREADS:
        raise ConfigError(f"threads is {threads}; give 0 for all cores, or a number up to {_MOST_THREADS:,}")


def _on_standard_error() -> Progress:
    return Terminal() if sys.stderr.isatty() else Lines()


def is_leader() -> bool:
    """Whether this process writes files and speaks: the first of those that `torchrun` started, or the only one."""
    return int(os.environ.get("RANK", "0")) == 0


def processes() -> int:
    """How many processes `torchrun` started to train together; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def available_cores() -> int:
    """Cores this process may run on, which in a container is often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int:
    """Bytes of memory that can be used now, as far as the system tells."""
    limits = [2**63]
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, KeyError):  # Linux: caches that can be dropped count as available too.
        rows = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        limits[-1] = int(rows["MemAvailable"].split()[0]) * 1024
    with contextlib.suppress(OSError, ValueError):  # A container's limit, or the word "max".
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(limits)


class Meter:
    """Wall seconds, CPU seconds of this process and its children, and peak memory: `with Meter() as meter: …`."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_mib: float = 0.0

    def __enter__(self) -> Meter:
        self._wall, self._cpu = time.perf_counter(), _cpu_seconds()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall_seconds = time.perf_counter() - self._wall
        self.cpu_seconds = _cpu_seconds() - self._cpu
        self.peak_rss_mib = _peak_rss_mib()


def _peak_rss_mib() -> float:
    if resource is None:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def _cpu_seconds() -> float:
    if resource is None:
        return time.process_time()
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
