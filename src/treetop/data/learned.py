"""Which texts a model has learned from, kept as eight bytes of each: figures on those say little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from treetop.data.dataset import Corpus
from treetop.data.digests import earlier_digests, feature_digests
from treetop.errors import StoreError
from treetop.store import Folder

__all__ = ["FILE", "Learned"]

FILE = "texts.safetensors"
_KIND, _EARLIER = "xxh64", "digests"


def _earlier(corpus: Corpus) -> NDArray[np.uint64]:
    if corpus.features is None or len(corpus.texts):
        return earlier_digests(corpus.texts)
    return feature_digests(corpus.features)


_DIGESTS: dict[str, Callable[[Corpus], NDArray[np.uint64]]] = {
    _KIND: lambda corpus: corpus.digests,
    _EARLIER: _earlier,
}
"""By the kind of a digest, which is the name it is stored under, how it is made."""


def _distinct(digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """In order, each once; numpy's own `unique` builds a table for it, which takes thirty times as long."""
    ordered = np.sort(digests)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


class Learned:
    """The digests of training texts, each kind sorted; models of earlier versions have others than those of today."""

    def __init__(self, digests: Mapping[str, NDArray[np.uint64]]) -> None:
        self._digests = dict(digests)

    @classmethod
    def of(cls, corpus: Corpus) -> Learned:
        """All texts of a corpus."""
        return cls({_KIND: _distinct(corpus.digests)})

    @classmethod
    def joined(cls, parts: Iterable[Learned]) -> Learned:
        """The texts of several models."""
        found: dict[str, list[NDArray[np.uint64]]] = {}
        for part in parts:
            for kind, digests in part._digests.items():
                found.setdefault(kind, []).append(digests)
        return cls({kind: _distinct(np.concatenate(several)) for kind, several in found.items()})

    def among(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Which rows of a corpus are among the texts."""
        found = np.zeros(len(corpus), np.bool_)
        for kind, known in self._digests.items():
            found |= np.isin(_DIGESTS[kind](corpus), known)
        return found

    def save(self, folder: Folder) -> None:
        """Write `texts.safetensors`."""
        folder.write_tensors(FILE, self._digests)

    @classmethod
    def load(cls, folder: Folder) -> Learned:
        """What `save` wrote, in this version or an earlier one."""
        digests = folder.read_tensors(FILE, dict.fromkeys(_DIGESTS, np.uint64))
        unknown = next((kind for kind in digests if kind not in _DIGESTS), None)
        if unknown is not None:
            problem = f"digests of a kind that this version does not know ({unknown}); use the version that wrote them"
            raise StoreError(problem, path=folder.path / FILE)
        return cls(digests)
