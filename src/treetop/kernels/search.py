"""Beam search down a tree of linear classifiers, coarse to fine.

At each level the children of the kept nodes are scored, and the best of them are kept. With margin v = w·x + b of a
node, log-link ℓ and the path from the root r to node j,

    score(j) = ℓ(v_r) + … + ℓ(v_j)      noop: v   sigmoid: log 1/(1+exp(-v))   lp-hinge: -max(0, 1-v)^p

("multiply", a product of probabilities), or ℓ(v_j) of the label alone ("last", where the path serves to find it).
Scores are returned as exp(score); noop margins as they are. Ties go to the higher margin of the node itself, then to
the lower id: hinge links saturate at 1, so ties at the top are common (Prabhu et al., Parabel, WWW 2018; Yu et al.,
PECOS, JMLR 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError, DataError
from treetop.kernels import _native
from treetop.kernels.layout import Packed
from treetop.kernels.packed_checks import check_level, check_levels, damage
from treetop.kernels.rows import csr_of, offsets_of
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["LINKS", "Combine", "Link", "Mask", "Searcher", "score_level"]

Link: TypeAlias = Literal["noop", "l1-hinge", "l2-hinge", "l3-hinge", "l4-hinge", "sigmoid"]
Combine: TypeAlias = Literal["multiply", "last"]

Mask: TypeAlias = NDArray[np.bool_]
"""Of each node of a level, whether a search may look at it."""

LINKS: tuple[Link, ...] = ("noop", "l1-hinge", "l2-hinge", "l3-hinge", "l4-hinge", "sigmoid")
"""All links; the position is the number the native code knows them by."""


class Searcher:
    """Searches packed levels, coarse to fine. The arrays are used where they are, read-only or mapped from a file.

    Offsets and node ids are checked here; features and positions of children chunk by chunk, when a search comes to it
    for the first time, as a mapped model may be larger than memory. `files` says where the levels came from: damage is
    then a StoreError that names the file, else a DataError.
    """

    def __init__(self, levels: Sequence[Packed], *, files: Sequence[Path | None] | None = None) -> None:
        self._files = files
        check_levels(levels, files)
        self._native = _native.Searcher([_as_bits(level) for level in levels])
        self._settings: dict[tuple[Any, ...], _native.SearchSettings] = {}
        self.levels = len(levels)
        self.columns, self.dims = (int(size) for size in levels[0]["width"])
        labels = int(levels[-1]["children"].max(initial=-1)) + 1
        self.nodes = (*(len(level["children_ptr"]) - 1 for level in levels[1:]), labels)
        """Nodes of each level: how long the masks of a restricted search must be."""

    @property
    def width(self) -> int:
        """Columns the features must have: the sparse ones plus the dense ones."""
        return self.columns + self.dims

    def search(
        self,
        sparse: CSR | None,
        dense: Dense | None,
        *,
        beams: Sequence[int],
        k: int,
        link: Link = "l3-hinge",
        combine: Combine = "multiply",
        leaf_link: Link | None = None,
        allowed: Sequence[Mask] | None = None,
        threads: int = 1,
    ) -> tuple[Ids, Floats]:
        """The k best labels of each text (texts × k, -1 where there are fewer) and their scores, best first.

        `beams` says how many nodes to keep after each level but the last; `leaf_link` replaces `link` at the last.
        `allowed` has a mask per level: nodes outside are not looked at, and take no place in a beam.
        """
        settings = self._settings_of(beams, k, link, combine, leaf_link)
        texts = _check_texts(sparse, dense, self.columns, self.dims)
        _check_threads(threads)
        try:
            return self._native.search(*texts, settings, self._masks(allowed), threads)
        except IndexError as error:
            raise DataError(f"the features are damaged: {error}") from None
        except ValueError as error:
            raise damage(error, self._files) from None

    def search_one(
        self,
        indices: Ids,
        values: Floats,
        dense: Floats | None = None,
        *,
        beams: Sequence[int],
        k: int,
        link: Link = "l3-hinge",
        combine: Combine = "multiply",
        leaf_link: Link | None = None,
        allowed: Sequence[Mask] | None = None,
    ) -> tuple[Ids, Floats]:
        """The k best labels of one text, the same as from `search`, with the least delay.

        `indices` are the sorted columns of its sparse features (int32) and `values` (float32) their values.
        """
        settings = self._settings_of(beams, k, link, combine, leaf_link)
        if len(indices) != len(values):
            raise DataError(f"{len(indices)} feature ids come with {len(values)} values")
        if (0 if dense is None else len(dense)) != self.dims:
            raise DataError(f"the model has {self.dims} dense features, the text {0 if dense is None else len(dense)}")
        try:
            return self._native.search_one(indices, values, dense, settings, self._masks(allowed))
        except IndexError as error:
            raise DataError(f"the text does not fit the model: {error}; use the same features as in training") from None
        except ValueError as error:
            raise damage(error, self._files) from None

    def _settings_of(
        self, beams: Sequence[int], k: int, link: Link, combine: Combine, leaf_link: Link | None
    ) -> _native.SearchSettings:
        key = (tuple(beams), k, link, combine, leaf_link)
        found = self._settings.get(key)
        if found is None:
            found = self._settings[key] = _make_settings(self.levels, *key)
        return found

    def _masks(self, allowed: Sequence[Mask] | None) -> list[NDArray[np.uint8]] | None:
        if allowed is None:
            return None
        if len(allowed) != self.levels:
            raise DataError(f"allowed has {len(allowed)} masks; a tree of {self.levels} levels needs one for each")
        return [_check_mask(mask, nodes) for mask, nodes in zip(allowed, self.nodes, strict=True)]


def score_level(
    level: Packed,
    sparse: CSR | None,
    dense: Dense | None,
    shortlist: CSR | None,
    *,
    link: Link = "l3-hinge",
    combine: Combine = "multiply",
    allowed: Mask | None = None,
    nodes: int | None = None,
    keep: int = 0,
    log: bool = False,
    threads: int = 1,
    file: Path | None = None,
) -> CSR:
    """Scores of the children of each text's shortlisted parents: texts × nodes, as one step of `Searcher.search`.

    `shortlist` (texts × parents) holds the parents' scores; None means the root. "multiply" multiplies them in, "last"
    looks at the pattern only. `allowed` says which nodes may be scored, `keep` cuts to the best so many per text (0:
    all). With `log`, scores come and go as logarithms, which never underflow. `nodes` is the width of the result and
    `file` what to blame for a damaged level.
    """
    _check_link(link, combine)
    check_level(level, file=file)
    texts = _check_texts(sparse, dense, *(int(size) for size in level["width"]))
    starts, parents, above = _check_shortlist(shortlist, texts[0], len(level["children_ptr"]) - 1)
    if above is not None and not log and combine == "multiply":
        with np.errstate(divide="ignore"):
            above = np.log(above)
    if keep < 0:
        raise ConfigError(f"keep is {keep}; it is the number of nodes to keep, or 0 for all")
    _check_threads(threads)
    columns = int(np.max(level["children"], initial=-1)) + 1
    open_nodes = None if allowed is None else _check_mask(allowed, columns)
    native = _native.Searcher([_as_bits(level)])
    add_path = combine == "multiply"
    try:
        start, found, data = native.score(
            0, *texts, starts, parents, above, open_nodes, LINKS.index(link), add_path, keep, threads
        )
    except IndexError as error:
        raise DataError(f"the features or the shortlist are damaged: {error}") from None
    except ValueError as error:
        raise damage(error, [file]) from None
    if not log and link != "noop":
        np.exp(data, out=data)
    return csr_of(start, found, data, columns=columns if nodes is None else nodes)


def _make_settings(
    levels: int, beams: tuple[int, ...], k: int, link: Link, combine: Combine, leaf_link: Link | None
) -> _native.SearchSettings:
    leaf_link = link if leaf_link is None else leaf_link
    _check_link(link, combine)
    _check_link(leaf_link, combine)
    if len(beams) != levels - 1:
        raise ConfigError(
            f"beams has {len(beams)} numbers; a tree of {levels} levels needs {levels - 1}, one per level but the last"
        )
    if k < 1 or any(beam < 1 for beam in beams):
        raise ConfigError(f"k is {k} and beams {list(beams)}; each must be at least 1")
    return _native.SearchSettings.make(list(beams), k, LINKS.index(link), LINKS.index(leaf_link), combine == "multiply")


def _check_link(link: str, combine: str) -> None:
    if link not in LINKS:
        raise ConfigError(f"unknown link {link!r}; choose from {', '.join(LINKS)}")
    if combine not in ("multiply", "last"):
        raise ConfigError(f"unknown combine {combine!r}; choose 'multiply' or 'last'")
    if link == "noop" and combine == "multiply":
        raise ConfigError(
            "combine 'multiply' needs scores in (0, 1]; choose another link than 'noop', or combine 'last'"
        )


def _check_mask(mask: Mask, nodes: int) -> NDArray[np.uint8]:
    if mask.dtype != np.bool_ or mask.ndim != 1 or len(mask) < nodes:
        raise DataError(f"a mask is {mask.dtype} of shape {mask.shape}; use one bool for each of {nodes} nodes")
    return np.ascontiguousarray(mask).view(np.uint8)


def _check_threads(threads: int) -> None:
    if threads < 1:
        raise ConfigError(f"threads is {threads}; use at least 1")


_TextArrays: TypeAlias = tuple[int, "NDArray[np.int64] | None", "Ids | None", "Floats | None", "Dense | None"]


def _check_texts(sparse: CSR | None, dense: Dense | None, columns: int, dims: int) -> _TextArrays:
    given = (0 if sparse is None else sparse.shape[1], 0 if dense is None else dense.shape[1])
    if given != (columns, dims):
        raise DataError(
            f"the features have {given[0]} sparse and {given[1]} dense columns, the model was trained on {columns} "
            f"and {dims}; use the same features as in training"
        )
    rows = {block.shape[0] for block in (sparse, dense) if block is not None}
    if len(rows) != 1:
        raise DataError(f"sparse and dense features are of {sorted(rows)} texts; give the same texts in both")
    if dense is not None:
        dense = np.ascontiguousarray(dense, np.float32)
    if sparse is None:
        return rows.pop(), None, None, None, dense
    indices = np.ascontiguousarray(sparse.indices, np.int32)
    return rows.pop(), offsets_of(sparse), indices, np.ascontiguousarray(sparse.data, np.float32), dense


def _check_shortlist(
    shortlist: CSR | None, texts: int, parents: int
) -> tuple[NDArray[np.int64] | None, Ids | None, Floats | None]:
    if shortlist is None:
        if parents != 1:
            raise DataError(f"the level has {parents} parents: a shortlist must say which to look at")
        return None, None, None
    if shortlist.shape != (texts, parents):
        raise DataError(f"the shortlist is {shortlist.shape} for {texts} texts and {parents} parents")
    indices = np.ascontiguousarray(shortlist.indices, np.int32)
    return offsets_of(shortlist), indices, np.ascontiguousarray(shortlist.data, np.float32)


def _as_bits(level: Packed) -> Packed:
    """Halves as plain 16 bits, without a copy: the type Python and C++ both know."""
    return {name: array.view(np.uint16) if array.dtype == np.float16 else array for name, array in level.items()}
