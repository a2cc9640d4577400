"""The methods by name, and loading of a saved model whatever its method. A method is imported when it is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module
from os import PathLike
from typing import Any

from treetop.errors import ConfigError, StoreError, needs_neural
from treetop.methods.base import CARD, FORMAT, Method
from treetop.runtime import Runtime
from treetop.store import Folder

__all__ = ["METHODS", "SUMMARIES", "load", "method_class"]

METHODS = {
    "xr-linear": "treetop.methods.xr_linear:XRLinear",
    "one-vs-all": "treetop.methods.one_vs_all:OneVsAll",
    "lightxml": "treetop.methods.lightxml:LightXML",
    "xr-transformer": "treetop.methods.xr_transformer:XRTransformer",
    "cascadexml": "treetop.methods.cascadexml:CascadeXML",
    "x-transformer": "treetop.methods.x_transformer:XTransformer",
    "ensemble": "treetop.methods.ensemble:Ensemble",
}
"""Where each method lives."""
SUMMARIES = {
    "xr-linear": "linear classifiers on a label tree; the default",
    "one-vs-all": "a linear classifier per label",
    "lightxml": "an encoder that recalls groups of labels and ranks those in them (extra: neural)",
    "xr-transformer": "an encoder tuned on ever finer levels, then a linear tree (extra: neural)",
    "cascadexml": "layers of an encoder for levels of the tree (extra: neural)",
    "x-transformer": "an encoder finds clusters, linear classifiers rank in them (extra: neural)",
    "ensemble": "several models that vote; `treetop ensemble`",
}
"""What each method is, in a line."""


def method_class(name: str) -> type[Method[Any]]:
    """The class of a method by its name on the command line and in model folders."""
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(METHODS)}"
        raise ConfigError(f"there is no method '{name}'; {hint}")
    module, _, attribute = METHODS[name].partition(":")
    with needs_neural():
        found: type[Method[Any]] = getattr(import_module(module), attribute)
    return found


def load(path: str | PathLike[str], *, runtime: Runtime | None = None) -> Method[Any]:
    """A saved model of any method, its arrays mapped into memory."""
    folder = Folder.open(path)
    card = folder.read_json(CARD)
    if not isinstance(card, dict) or "method" not in card:
        raise StoreError("this is not the card of a treetop model", path=folder.path / CARD)
    if card.get("format") != FORMAT:
        raise StoreError(
            f"the model has format {card.get('format')}, this version of treetop reads {FORMAT}; "
            f"train it again, or use treetop {card.get('treetop', 'of that time')}",
            path=folder.path / CARD,
        )
    if card["method"] not in METHODS:
        raise StoreError(f"the model's method '{card['method']}' is unknown here", path=folder.path / CARD)
    return method_class(card["method"]).load(folder, runtime=runtime)
