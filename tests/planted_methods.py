"""The transformer methods on the planted texts, with settings under which a tuned encoder solves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import planted
from treetop.labels import TreeConfig
from treetop.linear import SearchConfig
from treetop.methods import Method
from treetop.methods.cascadexml import CascadeXML, CascadeXMLConfig
from treetop.methods.lightxml import LightXML, LightXMLConfig
from treetop.methods.x_transformer import XTransformer, XTransformerConfig
from treetop.methods.xr_transformer import XRTransformer, XRTransformerConfig
from treetop.metrics import evaluate
from treetop.neural.settings import OptimConfig
from treetop.runtime import Runtime

__all__ = ["PLANTED_MAKERS", "TREE", "p_at_1"]

TREE = TreeConfig(max_leaf=3, branching=4)
SINGLE = TreeConfig(widths=(16,))  # nearly a cluster per label, since X-Transformer tunes for clusters only
OPTIM = OptimConfig(lr=3e-3, head_lr_factor=3.0, epochs=8, batch_size=16, warmup=0.1, weight_decay=0.0)
CLOSE = SearchConfig(beam=3, link="l2-hinge", leaf_link="noop", combine="last")


def light(**options: Any) -> Method[Any]:
    settings: dict[str, Any] = {"layers": 1, "dropout": 0.0, "tree": TREE, "bottleneck": 0, "beam": 2}
    return LightXML(LightXMLConfig(**_common() | settings | options), runtime=Runtime(threads=1))


def cascade(**options: Any) -> Method[Any]:
    settings: dict[str, Any] = {"tree": TREE, "beams": (3,), "dropouts": (0.0,)}
    return CascadeXML(CascadeXMLConfig(**_common() | settings | options), runtime=Runtime(threads=1))


def recursive(**options: Any) -> Method[Any]:
    optim = replace(OPTIM, epochs=4)  # of each level
    settings: dict[str, Any] = {"optim": optim, "coarse_tree": TREE, "fine_tree": TREE, "beam": 3, "dropout": 0.0}
    return XRTransformer(XRTransformerConfig(**_common() | settings | options), runtime=Runtime(threads=1))


def matching(**options: Any) -> Method[Any]:
    settings: dict[str, Any] = {"tree": SINGLE, "search": CLOSE, "dropout": 0.0}
    return XTransformer(XTransformerConfig(**_common() | settings | options), runtime=Runtime(threads=1))


def _common() -> dict[str, Any]:
    return {"encoder": planted.encoder(), "optim": OPTIM}


PLANTED_MAKERS: dict[str, Callable[..., Method[Any]]] = {
    "lightxml flat": lambda **options: light(mode="flat", **options),
    "lightxml with groups": lambda **options: light(mode="groups", **options),
    "cascadexml": cascade,
    "cascadexml by its linear model": lambda **options: cascade(sparse=True, linear_share=1.0, **options),
    "xr-transformer": recursive,
    "x-transformer": matching,
}


def p_at_1(model: Method[Any]) -> float:
    """The precision of a model on the planted test texts, after it has learned from the training texts."""
    test = planted.test_texts()
    return evaluate(model.fit(planted.train_texts()).predict(test, k=5), test.labels, ["p@1"])["p@1"]
