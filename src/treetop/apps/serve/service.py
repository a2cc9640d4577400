"""What endpoints work with: the models, the settings, and where feedback goes."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.apps.serve.keeping import Keeper
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.shelf import Shelf

__all__ = ["Service"]


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """A service at work."""

    settings: Settings
    shelf: Shelf
    keeper: Keeper | None
