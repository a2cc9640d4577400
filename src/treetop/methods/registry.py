"""The methods by name, and loading of a saved model whatever its method. A method is imported when it is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from treetop.errors import ConfigError, StoreError, needs_neural
from treetop.methods.catalogue import METHODS

if TYPE_CHECKING:
    from treetop.methods.base import Method
    from treetop.methods.record import MethodRecord
    from treetop.runtime import Runtime

__all__ = ["load", "method_class", "method_record", "trainable"]


def method_record(name: str) -> MethodRecord:
    """The record of a method by its name on the command line and in model folders."""
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(METHODS)}"
        raise ConfigError(f"there is no method '{name}'; {hint}")
    return METHODS[name]


def method_class(name: str) -> type[Method[Any]]:
    """The class of a method by its name."""
    record = method_record(name)
    with needs_neural():
        found: type[Method[Any]] = getattr(import_module(record.module), record.public_names[0])
    return found


def trainable() -> list[MethodRecord]:
    """The methods that learn from texts; the others are made of models."""
    return [record for record in METHODS.values() if not record.has("members")]


def load(path: str | PathLike[str], *, runtime: Runtime | None = None) -> Method[Any]:
    """A saved model of any method, its arrays mapped into memory; `hf:user/name` is a model on the Hugging Face Hub."""
    from treetop import hub
    from treetop.methods.card import CARD, read_card
    from treetop.store import Folder

    folder = Folder.open(hub.fetch(str(path)) if hub.is_address(path) else path)
    method = read_card(folder)["method"]
    if method not in METHODS:
        raise StoreError(f"the model's method '{method}' is unknown here", path=folder.path / CARD)
    return method_class(method).load(folder, runtime=runtime)
