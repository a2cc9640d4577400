"""Heads: all weights of a trained network but those of its encoder, as arrays, for a prediction without torch.

They are stored under the names they had in the network (`scorers.safetensors`), and mapped when a model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import StoreError
from treetop.linear.dense_level import Affine, DenseLevel
from treetop.methods.parts import Part
from treetop.store import Folder

if TYPE_CHECKING:
    from torch import nn

__all__ = ["FILE", "Heads", "Shapes", "affine_shapes", "heads_part", "level_shapes"]

FILE = "scorers.safetensors"
ENCODERS = ("encoder.", "first_encoder.")
"""What the networks of the methods call their encoders; older folders hold the second among the heads."""

Shapes: TypeAlias = dict[str, tuple[int, ...]]
"""What the arrays of a network are called, and how large they are."""


class Heads:
    """Arrays by the names of the network's parameters."""

    def __init__(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        self.arrays = dict(arrays)

    @classmethod
    def of(cls, network: nn.Module) -> Heads:
        """Those of a network as it is now; on the CPU they go on learning with it."""
        state = {name: value for name, value in network.state_dict().items() if not name.startswith(ENCODERS)}
        return cls({name: value.detach().cpu().numpy() for name, value in state.items()})

    def level(self, name: str, *, squash: Literal["none", "sigmoid"] = "none") -> DenseLevel:
        """What was a `NodeScorer` of the network."""
        bottleneck = f"{name}.bottleneck"
        before = self.affine(bottleneck, squash=squash) if f"{bottleneck}.weight" in self.arrays else None
        return DenseLevel(self.arrays[f"{name}.weight"], self.arrays.get(f"{name}.bias"), before)

    def affine(self, name: str, *, squash: Literal["none", "sigmoid"] = "none") -> Affine:
        """What was a linear layer of the network."""
        return Affine(self.arrays[f"{name}.weight"], self.arrays[f"{name}.bias"], squash)


def level_shapes(name: str, nodes: int, width: int, *, bottleneck: int = 0, bias: bool = True) -> Shapes:
    """The arrays of a `NodeScorer`."""
    found: Shapes = {f"{name}.weight": (nodes, bottleneck or width)}
    if bias:
        found[f"{name}.bias"] = (nodes,)
    return found | (affine_shapes(f"{name}.bottleneck", bottleneck, width) if bottleneck else {})


def affine_shapes(name: str, out: int, into: int) -> Shapes:
    """The arrays of a linear layer."""
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def heads_part(shapes: Callable[[Any], Shapes]) -> Part:
    """The heads of a model; `shapes` says what they must be, for a model whose tree and reader are there."""
    return Part(
        "heads",
        write=lambda heads, folder: folder.write_tensors(FILE, heads.arrays),
        read=lambda model, folder: _read(folder, shapes(model)),
    )


def _read(folder: Folder, expected: Shapes) -> Heads:
    arrays = folder.read_tensors(FILE)
    found = {name: array.shape for name, array in arrays.items() if array.dtype == np.float32}
    wrong = [name for name in sorted(expected) if expected[name] != found.get(name)]
    more = [name for name in sorted(arrays) if name not in expected and not name.startswith(ENCODERS)]
    if wrong or more:
        problem = f"does not fit the rest of the model ({(wrong + more)[0]}); restore it or train again"
        raise StoreError(f"the file {problem}", path=folder.path / FILE)
    return Heads({name: arrays[name] for name in expected})
