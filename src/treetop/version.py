"""Which treetop this is; models say which one made them."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.2.0"
