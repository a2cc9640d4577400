"""Splitting a dataset in two without leaking: equal texts never end on both sides.

Texts that differ only in case or white space count as equal; without texts, rows of equal features do. Both parts keep
the label space and the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from treetop.data.dataset import Corpus, Dataset
from treetop.data.digests import feature_rows, hashed
from treetop.errors import ConfigError, DataError

__all__ = ["rows_by_group", "rows_by_ratio", "rows_by_time", "split_by_group", "split_by_ratio", "split_by_time"]

Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


def split_by_ratio(dataset: Dataset, ratio: float, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Two datasets, of which the first has about `ratio` of the texts.

    Texts are ranked by a hash of themselves and the seed and the first part takes the lowest, so neither the order of
    the rows nor the machine matters.
    """
    return _taken(dataset, rows_by_ratio(dataset.corpus, ratio, seed))


def split_by_group(dataset: Dataset, groups: Sequence[Any], ratio: float, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Two datasets, of which the first has about `ratio` of the texts and no group is in both.

    `groups` has a value per text: an author, a source, a case. Groups that share a text count as one.
    """
    return _taken(dataset, rows_by_group(dataset.corpus, groups, ratio, seed))


def split_by_time(dataset: Dataset, times: Sequence[Any], ratio: float) -> tuple[Dataset, Dataset]:
    """The earliest `ratio` of the texts, and the later ones; texts of one moment stay together.

    `times` has a value per text: numbers, dates, or dates as text (2024-05-31, or with a time). A later copy of an
    earlier text is in neither part: it would be no test.
    """
    return _taken(dataset, rows_by_time(dataset.corpus, times, ratio))


def rows_by_ratio(corpus: Corpus, ratio: float, seed: int = 0) -> Rows:
    """The row numbers of both parts of `split_by_ratio`."""
    _check_ratio(ratio)
    keys = _lowest_of_equal(_keys(corpus, seed), corpus.digests)
    return _parted(_lowest(keys, ratio, "texts are all equal; two different ones"))


def rows_by_group(corpus: Corpus, groups: Sequence[Any], ratio: float, seed: int = 0) -> Rows:
    """The row numbers of both parts of `split_by_group`."""
    _check_ratio(ratio)
    _check_length(groups, corpus, "groups")
    keys = hashed((str(group).encode("utf-8", "surrogatepass") for group in groups), str(seed).encode())
    keys = _lowest_of_equal(keys, _joined_groups(keys, corpus))
    return _parted(_lowest(keys, ratio, "texts are in groups that all belong together; two separate groups"))


def rows_by_time(corpus: Corpus, times: Sequence[Any], ratio: float) -> Rows:
    """The row numbers of both parts of `split_by_time`."""
    _check_ratio(ratio)
    _check_length(times, corpus, "times")
    early = _lowest(_moments(times), ratio, "texts are all of one moment; two different ones")
    again = ~early & np.isin(corpus.digests, corpus.digests[early])
    if np.all(early | again):
        raise DataError("every later text is a copy of an earlier one; nothing is left for the second part")
    return _parted(early, ~early & ~again)


def _check_ratio(ratio: float) -> None:
    if not isinstance(ratio, int | float | np.number) or not 0.0 < ratio < 1.0:
        raise ConfigError(f"ratio is {ratio}; give the share of the first part, between 0 and 1")


def _check_length(values: Sequence[Any], corpus: Corpus, what: str) -> None:
    if len(values) != len(corpus):
        raise DataError(f"{len(values)} {what} for {len(corpus)} texts; give one per text")


def _taken(dataset: Dataset, rows: Rows) -> tuple[Dataset, Dataset]:
    return dataset.take(rows[0]), dataset.take(rows[1])


def _parted(first: NDArray[np.bool_], second: NDArray[np.bool_] | None = None) -> Rows:
    return np.flatnonzero(first), np.flatnonzero(~first if second is None else second)


def _lowest(keys: NDArray[Any], ratio: float, problem: str) -> NDArray[np.bool_]:
    """Which rows have the lowest keys: about `ratio` of them. Equal keys stay together, and neither part is empty."""
    found, member, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    if len(found) < 2:
        raise DataError(f"the {len(keys)} {problem} are needed to split")
    middles = np.cumsum(sizes) - sizes / 2  # those of one key go where most of them belong
    first = middles <= ratio * len(keys)
    first[0], first[-1] = True, False
    return np.asarray(first[member])


def _lowest_of_equal(keys: NDArray[np.uint64], same: NDArray[Any]) -> NDArray[np.uint64]:
    """For each row the lowest key among the rows that are the same."""
    _, member = np.unique(same, return_inverse=True)
    lowest = np.full(member.max(initial=-1) + 1, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(lowest, member, keys)
    return np.asarray(lowest[member])


def _keys(corpus: Corpus, seed: int) -> NDArray[np.uint64]:
    """A number per row, equal for equal texts and otherwise in random order."""
    if len(corpus.texts) or corpus.features is None:
        return hashed(map(_normal_text, corpus.texts), str(seed).encode())
    return hashed(feature_rows(corpus.features), str(seed).encode())


def _normal_text(text: str) -> bytes:
    return " ".join(text.casefold().split()).encode("utf-8", "surrogatepass")


def _joined_groups(keys: NDArray[np.uint64], corpus: Corpus) -> NDArray[np.int32]:
    """A number per row: the same for rows of one group, of groups that share a text, and so on."""
    from scipy.sparse.csgraph import connected_components  # which brings all of scipy's linear algebra

    _, group = np.unique(keys, return_inverse=True)
    _, text = np.unique(_lowest_of_equal(_keys(corpus, 0), corpus.digests), return_inverse=True)
    groups, size = group.max() + 1, group.max() + text.max() + 2
    links = coo_array((np.ones(len(group), np.int8), (group, groups + text)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1][group])


def _moments(times: Sequence[Any]) -> NDArray[np.float64]:
    try:
        moments = np.array([float(time) for time in times])
    except (TypeError, ValueError):
        moments = np.array([_seconds(time, row) for row, time in enumerate(times)])
    if not np.all(np.isfinite(moments)):
        row = int(np.flatnonzero(~np.isfinite(moments))[0])
        raise DataError(f"the time of row {row} is missing; fill it in, or leave the row out")
    return moments


def _seconds(time: Any, row: int) -> float:
    """Seconds since 1970 of a date, or of a text that names one; without a zone it is taken as UTC."""
    try:
        moment = datetime.fromisoformat(str(time).strip().replace("Z", "+00:00"))
    except ValueError:
        problem = f"the time of row {row} is {str(time)[:40]!r}"
        raise DataError(f"{problem}; give numbers everywhere, or dates as 2024-05-31 or 2024-05-31T12:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
