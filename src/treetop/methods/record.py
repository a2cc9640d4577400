"""What is known about a method without importing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Capability", "MethodRecord"]

Capability: TypeAlias = Literal["encoder", "resume", "members", "pieces"]
"""What a method may have beyond fit and predict: a text encoder, trainings that can be continued, models as members,
levels of linear classifiers, whose pieces a cluster can train."""


@dataclass(frozen=True, slots=True)
class MethodRecord:
    """A method as the rest of treetop knows it."""

    name: str
    """As on the command line and in model folders."""
    home: str
    """The module and the class, as `treetop.methods.xr_linear:XRLinear`; its configuration is the class + `Config`."""
    summary: str
    """What it is, in a line."""
    capabilities: frozenset[Capability] = frozenset()
    """What it has beyond fit and predict."""
    extra: str | None = None
    """The extra of the distribution that its packages come with."""

    @property
    def module(self) -> str:
        """Where it lives."""
        return self.home.partition(":")[0]

    @property
    def public_names(self) -> tuple[str, str]:
        """Its class and its configuration, as names of the package."""
        name = self.home.partition(":")[2]
        return name, f"{name}Config"

    def has(self, capability: Capability) -> bool:
        """Whether it has what it is asked for."""
        return capability in self.capabilities
