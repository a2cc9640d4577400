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

from treetop.methods.catalogue import METHODS as METHODS
from treetop.version import __version__ as __version__

if TYPE_CHECKING:
    from treetop.client import Client as Client
    from treetop.data import (
        Corpus as Corpus,
        Dataset as Dataset,
        LabelSpace as LabelSpace,
        read as read,
        split_by_group as split_by_group,
        split_by_ratio as split_by_ratio,
        split_by_time as split_by_time,
        splits as splits,
    )
    from treetop.errors import (
        ConfigError as ConfigError,
        DataError as DataError,
        MissingExtraError as MissingExtraError,
        NotFittedError as NotFittedError,
        ServiceError as ServiceError,
        StoreError as StoreError,
        TreetopError as TreetopError,
    )
    from treetop.explanation import Explanation as Explanation
    from treetop.labels import LabelTree as LabelTree, TreeConfig as TreeConfig, grow_tree as grow_tree, pifa as pifa
    from treetop.linear import (
        LinearTree as LinearTree,
        LinearTreeConfig as LinearTreeConfig,
        SearchConfig as SearchConfig,
        SolverConfig as SolverConfig,
    )
    from treetop.methods.catalogue import *  # noqa: F403
    from treetop.methods.registry import load as load
    from treetop.methods.resolving import resolve as resolve
    from treetop.metrics.evaluate import evaluate as evaluate
    from treetop.metrics.propensity import Propensity as Propensity
    from treetop.neural.settings import OptimConfig as OptimConfig
    from treetop.predictions import Predictions as Predictions, Suggestion as Suggestion, fuse as fuse
    from treetop.runtime import Runtime as Runtime
    from treetop.text import Tfidf as Tfidf, TfidfConfig as TfidfConfig
    from treetop.text.encoder import EncoderConfig as EncoderConfig

_HOMES = {
    "client": ("Client",),
    "data": ("Corpus", "Dataset", "LabelSpace", "read", "split_by_group", "split_by_ratio", "split_by_time", "splits"),
    "errors": (
        "ConfigError",
        "DataError",
        "MissingExtraError",
        "NotFittedError",
        "ServiceError",
        "StoreError",
        "TreetopError",
    ),
    "explanation": ("Explanation",),
    "labels": ("LabelTree", "TreeConfig", "grow_tree", "pifa"),
    "linear": ("LinearTree", "LinearTreeConfig", "SearchConfig", "SolverConfig"),
    "methods": ("METHODS", "load"),
    "methods.resolving": ("resolve",),
    "metrics": ("Propensity", "evaluate"),
    "neural.settings": ("OptimConfig",),
    "predictions": ("Predictions", "Suggestion", "fuse"),
    "runtime": ("Runtime",),
    "text": ("Tfidf", "TfidfConfig"),
    "text.encoder": ("EncoderConfig",),
}


def _homes() -> dict[str, str]:
    """The module of every public name: those above, and the class and configuration of every method."""
    homes = {name: f"treetop.{module}" for module, names in _HOMES.items() for name in names}
    return homes | {name: record.module for record in METHODS.values() for name in record.public_names}


if not TYPE_CHECKING:  # type checkers go by the imports above
    __all__ = sorted(_homes())


def __getattr__(name: str) -> Any:
    home = _homes().get(name)
    if home is None:
        raise AttributeError(f"module 'treetop' has no attribute '{name}'")
    from treetop.errors import needs_neural

    with needs_neural():
        return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*_homes(), "__version__"])
