"""What can be set of a service, with defaults that are safe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from treetop.errors import ConfigError

__all__ = ["Settings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How models are served."""

    host: str = "127.0.0.1"
    """The address to listen at; only this machine reaches the default."""
    port: int = 8000
    """0 takes one that is free."""
    body_limit: int = 2_000_000
    """Bytes of a request's body, at most."""
    feedback: Path | None = Path("feedback")
    """Folder that corrections are written into, one inside it for each model; None: they are refused."""
    ui: bool = True
    """Whether the page for people is served at /."""
    threads: int = 0
    """Threads that a model computes with; 0: the cores, shared among the workers."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ConfigError(f"port is {self.port}; give a number from 1 to 65,535, or 0 for one that is free")
        if self.body_limit < 1:
            raise ConfigError(f"body limit is {self.body_limit} bytes; allow at least one")
