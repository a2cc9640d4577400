"""treetop: extreme multi-label text classification.

Give a text the few right labels out of thousands or millions:

    import treetop

    train = treetop.read("data/", split="train")
    model = treetop.XRLinear().fit(train)
    model.predict(["a text without labels"], k=5)[0]

Names are resolved when they are first used, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treetop.version import __version__ as __version__

if TYPE_CHECKING:
    from treetop.data import Corpus, Dataset, LabelSpace, read, split_by_ratio, splits
    from treetop.errors import ConfigError, DataError, MissingExtraError, NotFittedError, StoreError, TreetopError
    from treetop.labels import LabelTree, TreeConfig, grow_tree, pifa
    from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig, SolverConfig
    from treetop.methods import load
    from treetop.methods.cascadexml import CascadeXML, CascadeXMLConfig
    from treetop.methods.ensemble import Ensemble, EnsembleConfig
    from treetop.methods.lightxml import LightXML, LightXMLConfig
    from treetop.methods.one_vs_all import OneVsAll, OneVsAllConfig
    from treetop.methods.x_transformer import XTransformer, XTransformerConfig
    from treetop.methods.xr_linear import XRLinear, XRLinearConfig
    from treetop.methods.xr_transformer import XRTransformer, XRTransformerConfig
    from treetop.metrics.evaluate import evaluate
    from treetop.metrics.propensity import Propensity
    from treetop.neural.optimiser import OptimConfig
    from treetop.predictions import Predictions, Suggestion, fuse
    from treetop.presets.registry import resolve
    from treetop.runtime import Runtime
    from treetop.text import Tfidf, TfidfConfig
    from treetop.text.encoder import EncoderConfig

_HOMES = {
    "data": ("Corpus", "Dataset", "LabelSpace", "read", "split_by_ratio", "splits"),
    "errors": ("ConfigError", "DataError", "MissingExtraError", "NotFittedError", "StoreError", "TreetopError"),
    "labels": ("LabelTree", "TreeConfig", "grow_tree", "pifa"),
    "linear": ("LinearTree", "LinearTreeConfig", "SearchConfig", "SolverConfig"),
    "methods": ("load",),
    "methods.ensemble": ("Ensemble", "EnsembleConfig"),
    "methods.one_vs_all": ("OneVsAll", "OneVsAllConfig"),
    "methods.lightxml": ("LightXML", "LightXMLConfig"),
    "methods.cascadexml": ("CascadeXML", "CascadeXMLConfig"),
    "methods.xr_transformer": ("XRTransformer", "XRTransformerConfig"),
    "methods.x_transformer": ("XTransformer", "XTransformerConfig"),
    "neural.optimiser": ("OptimConfig",),
    "text.encoder": ("EncoderConfig",),
    "methods.xr_linear": ("XRLinear", "XRLinearConfig"),
    "metrics": ("Propensity", "evaluate"),
    "predictions": ("Predictions", "Suggestion", "fuse"),
    "presets.registry": ("resolve",),
    "runtime": ("Runtime",),
    "text": ("Tfidf", "TfidfConfig"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CascadeXML",
    "CascadeXMLConfig",
    "ConfigError",
    "Corpus",
    "DataError",
    "Dataset",
    "EncoderConfig",
    "Ensemble",
    "EnsembleConfig",
    "LabelSpace",
    "LabelTree",
    "LightXML",
    "LightXMLConfig",
    "LinearTree",
    "LinearTreeConfig",
    "MissingExtraError",
    "NotFittedError",
    "OneVsAll",
    "OneVsAllConfig",
    "OptimConfig",
    "Predictions",
    "Propensity",
    "Runtime",
    "SearchConfig",
    "SolverConfig",
    "StoreError",
    "Suggestion",
    "Tfidf",
    "TfidfConfig",
    "TreeConfig",
    "TreetopError",
    "XRLinear",
    "XRLinearConfig",
    "XRTransformer",
    "XRTransformerConfig",
    "XTransformer",
    "XTransformerConfig",
    "evaluate",
    "fuse",
    "grow_tree",
    "load",
    "pifa",
    "read",
    "resolve",
    "split_by_ratio",
    "splits",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'treetop' has no attribute '{name}'")
    from treetop.errors import needs_neural

    with needs_neural():
        return getattr(import_module(f"treetop.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
