"""Networks of all methods with as many labels as the papers' largest benchmarks, and a step that they take.

Heads have only eight numbers per label: what is counted of a step does not depend on that, or grows with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from tiny_encoders import make_encoder
from treetop.labels import LabelTree
from treetop.methods.cascadexml import CascadeXMLConfig
from treetop.methods.lightxml import LightXMLConfig
from treetop.methods.tuning import cascadexml, lightxml, x_transformer, xr_transformer
from treetop.methods.x_transformer import XTransformerConfig
from treetop.methods.xr_transformer import XRTransformerConfig
from treetop.neural.checkpoint import Checkpoints
from treetop.neural.examples import Examples
from treetop.neural.parallel import World
from treetop.neural.settings import OptimConfig
from treetop.neural.training import _Run
from treetop.runtime import Runtime
from treetop.sparse import from_parts
from treetop.text.encoder import EncoderConfig, TextEncoder
from treetop.types import CSR

__all__ = ["HEAD", "LABELS", "MAKERS", "TEXTS", "narrow_encoder", "run_of"]

LABELS = {"amazon-670k": 670_091, "amazon-3m": 2_812_281}
TEXTS, HEAD = 16, 8


def narrow_encoder(folder: Path) -> EncoderConfig:
    """Four layers of eight numbers."""
    make_encoder(folder, ["word"], layers=4, width=HEAD)
    return EncoderConfig(name=str(folder), max_tokens=16, dropout=0.0)


def tree_of(*widths: int) -> LabelTree:
    """Evenly wide below each other."""
    above = (1, *widths)
    return LabelTree(
        tuple((np.arange(w, dtype=np.int64) * a // w).astype(np.int32) for a, w in zip(above, widths, strict=False))
    )


def true_of(labels: int) -> CSR:
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, labels, (TEXTS, 5)), axis=1).astype(np.int32)
    return from_parts(np.arange(TEXTS + 1) * 5, columns.ravel(), None, columns=labels)


def light(encoder: EncoderConfig, labels: int) -> tuple[nn.Module, LabelTree, CSR | None]:
    tree = tree_of(8192, labels)
    config = LightXMLConfig(encoder=encoder, layers=4, bottleneck=HEAD, beam=32, mode="groups")
    return lightxml.Network(config, TextEncoder.load(encoder), lambda depth: range(1, depth + 1), tree), tree, None


def cascade(encoder: EncoderConfig, labels: int) -> tuple[nn.Module, LabelTree, CSR | None]:
    tree = tree_of(1024, 8192, 65_536, labels)
    config = CascadeXMLConfig(encoder=encoder, layers=((1, 2), (2,), (3,), (4,)), beams=(16, 16, 16), dropouts=(0.0,))
    return cascadexml.Network(config, TextEncoder.load(encoder), tree), tree, None


def xr(encoder: EncoderConfig, labels: int) -> tuple[nn.Module, LabelTree, CSR | None]:
    """Its last level that an encoder is tuned on, whatever the labels below."""
    tree = tree_of(128, 2048, 32_768, labels)
    found = from_parts(np.arange(TEXTS + 1) * 10, np.tile(np.arange(10, dtype=np.int32), TEXTS), None, columns=2048)
    return xr_transformer.Network(XRTransformerConfig(encoder=encoder), TextEncoder.load(encoder), tree, 2), tree, found


def matching(encoder: EncoderConfig, labels: int) -> tuple[nn.Module, LabelTree, CSR | None]:
    tree = tree_of(8192, labels)
    return x_transformer.Network(XTransformerConfig(encoder=encoder), TextEncoder.load(encoder), 8192), tree, None


MAKERS: dict[str, tuple[Callable[..., Any], list[int]]] = {
    "lightxml": (light, [0, 1]),
    "cascadexml": (cascade, [0, 1, 2, 3]),
    "xr-transformer": (xr, [2]),
    "x-transformer": (matching, [0]),
}


def run_of(name: str, encoder: EncoderConfig, labels: int, world: World = World(), heads: Any = "whole") -> Any:  # noqa: B008
    """A training of a method that has not begun."""
    make, levels = MAKERS[name]
    network, tree, found = make(encoder, labels)
    true = true_of(labels)
    tokens = network.encoder.tokenize(["word " * 5] * TEXTS)
    examples = Examples(tokens, [tree.lift(true, level) for level in levels], found)
    config = OptimConfig(batch_size=TEXTS, epochs=3, log_every=100, clip=0.0, heads=heads)
    return _Run(network, examples, config, Runtime(threads=1), world, Checkpoints(None))
