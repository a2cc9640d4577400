"""The methods, one file each. They know the bricks below them, and what they share here, never one another."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treetop.methods.catalogue import METHODS
from treetop.methods.registry import load, method_class

if TYPE_CHECKING:
    from treetop.methods.base import Method, Predictor

__all__ = ["METHODS", "Method", "Predictor", "load", "method_class"]


def __getattr__(name: str) -> Any:
    if name in ("Method", "Predictor"):  # which need numpy, where the catalogue of methods needs nothing
        return getattr(import_module("treetop.methods.base"), name)
    raise AttributeError(f"module 'treetop.methods' has no attribute '{name}'")
