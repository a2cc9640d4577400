"""The transformer methods on tiny encoders that know the words of the planted corpus."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tiny_encoders import make_encoder
from treetop.labels import TreeConfig
from treetop.methods import Method, method_class
from treetop.methods.cascadexml import CascadeXML, CascadeXMLConfig
from treetop.methods.lightxml import LightXML, LightXMLConfig
from treetop.methods.x_transformer import XTransformer, XTransformerConfig
from treetop.methods.xr_transformer import XRTransformer, XRTransformerConfig
from treetop.neural.settings import OptimConfig
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderConfig

TREE = TreeConfig(max_leaf=8, branching=4)
OPTIM = OptimConfig(lr=6e-3, head_lr_factor=3.0, epochs=6, batch_size=16, warmup=0.1, weight_decay=0.0)


@cache
def encoder() -> EncoderConfig:
    """Two layers of 32 numbers over the words of the planted corpus; read with torch, as exporting takes seconds.

    A program that a test starts may be given that of the test, in TINY_ENCODER.
    """
    if "TINY_ENCODER" in os.environ:
        return _read_by_torch(os.environ["TINY_ENCODER"])
    folder = Path(tempfile.mkdtemp(prefix="treetop-tiny-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    words = [f"topic{t}" for t in range(6)] + [f"noise{n}" for n in range(200)]
    words += [f"word{t}x{label}x{n}" for t in range(6) for label in range(7) for n in range(3)]
    words += ["apple", "pie", "cake", "rain", "text"]
    return _read_by_torch(str(make_encoder(folder, words, layers=2)))


def _read_by_torch(name: str) -> EncoderConfig:
    return EncoderConfig(name=name, max_tokens=32, pooling="mean", dropout=0.0, reader="torch")


def light(**options: Any) -> Callable[[Runtime], Method[Any]]:
    settings: dict[str, Any] = {"layers": 2, "dropout": 0.1, "optim": OPTIM, "tree": TREE, "bottleneck": 32, "beam": 3}
    return lambda runtime: LightXML(LightXMLConfig(encoder=encoder(), **settings | options), runtime=runtime)


def cascade(**options: Any) -> Callable[[Runtime], Method[Any]]:
    settings: dict[str, Any] = {"optim": OPTIM, "tree": TREE, "beams": (3,), "dropouts": (0.1,)}
    return lambda runtime: CascadeXML(CascadeXMLConfig(encoder=encoder(), **settings | options), runtime=runtime)


def recursive(**options: Any) -> Callable[[Runtime], Method[Any]]:
    settings: dict[str, Any] = {"optim": replace(OPTIM, epochs=2), "coarse_tree": TREE, "fine_tree": TREE, "beam": 3}
    return lambda runtime: XRTransformer(XRTransformerConfig(encoder=encoder(), **settings | options), runtime=runtime)


def matching(**options: Any) -> Callable[[Runtime], Method[Any]]:
    settings: dict[str, Any] = {"optim": replace(OPTIM, epochs=3), "tree": TREE}
    return lambda runtime: XTransformer(XTransformerConfig(encoder=encoder(), **settings | options), runtime=runtime)


NEURAL_MAKERS: dict[str, Callable[[Runtime], Method[Any]]] = {
    "lightxml flat": light(),
    "lightxml with groups": light(mode="groups"),
    "cascadexml": cascade(),
    "xr-transformer": recursive(),
    "x-transformer": matching(),
}


def neural_maker(name: str) -> Callable[[Runtime], Method[Any]]:
    """How to make a transformer method: as above, or with its defaults on the tiny encoder."""
    if name in NEURAL_MAKERS:
        return NEURAL_MAKERS[name]
    method = method_class(name)
    return lambda runtime: method(method.config_class(encoder=encoder(), optim=OPTIM), runtime=runtime)
