"""The methods, one file each. They know the bricks below them, `base` and `registry`, never one another."""

from __future__ import annotations

from treetop.methods.base import Method, Predictor
from treetop.methods.registry import METHODS, load, method_class

__all__ = ["METHODS", "Method", "Predictor", "load", "method_class"]
