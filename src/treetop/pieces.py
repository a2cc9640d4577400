"""Work that is cut into independent pieces, and who else could do them.

A task is a pure function of a piece: whoever does it, in whatever order, the results are the same. `Runtime.map` does
the pieces here, one after the other, or hands them to its workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:  # numpy would double what `treetop --help` costs
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Arrays", "Piece", "Task", "Workers", "runs_of"]

T = TypeVar("T")
Item = TypeVar("Item", contravariant=True)

Arrays: TypeAlias = "dict[str, NDArray[Any]]"
"""The result of a piece."""


@dataclass(frozen=True, slots=True)
class Piece(Generic[T]):
    """A part of the work."""

    item: T
    """What the task is given."""
    steps: int = 1
    """Of the progress of all pieces."""
    cost: float = 1.0
    """How long it takes, beside the others: the longest begin first."""


class Task(Protocol[Item]):
    """What is done with each piece. It can be pickled, and tells `advance` of steps that are done."""

    def __call__(self, item: Item, threads: int, advance: Callable[[int], object], /) -> Arrays: ...


class Workers(Protocol):
    """Other processes, perhaps on other machines."""

    def map(self, task: Task[T], pieces: Sequence[Piece[T]], advance: Callable[[int], object]) -> Iterator[Arrays]:
        """The results of all pieces, in their order."""
        ...


def runs_of(starts: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Runs [first, last) of things of which each begins in `starts`, of about `size` together and at least one."""
    runs, first = [], 0
    count = len(starts) - 1
    while first < count:
        last = int(starts.searchsorted(starts[first] + size, "right")) - 1
        last = min(max(last, first + 1), count)
        runs.append((first, last))
        first = last
    return runs
