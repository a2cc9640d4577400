"""What can be set of a service, with defaults that are safe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from treetop.errors import ConfigError
from treetop.runtime import Runtime, available_cores

__all__ = ["Settings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How models are served."""

    host: str = "127.0.0.1"
    """The address to listen at; only this machine reaches the default."""
    port: int = 8000
    """0 takes one that is free."""
    workers: int = 1
    """Processes that answer. They map the same model files."""
    threads: int = 0
    """Threads that each worker computes with; 0: the cores, shared among the workers."""
    device: str = "cpu"
    """Where networks run."""
    queue: int = 256
    """Texts of a worker that wait for an encoder; whoever asks for more is told to come back."""
    token_budget: int = 4096
    """Tokens that an encoder reads at once, about."""
    body_limit: int = 2_000_000
    """Bytes of a request's body, at most."""
    deadline: float = 30.0
    """Seconds that a request may take, its sending included."""
    keys: Path | None = None
    """File with a key per line, one of which must come with each request; None: no key is asked for."""
    origins: tuple[str, ...] = ()
    """Other sites whose pages may ask (CORS)."""
    feedback: Path | None = Path("feedback")
    """Folder that corrections are written into, one inside it for each model; None: they are refused."""
    ui: bool = True
    """Whether the page for people is served at /."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ConfigError(f"port is {self.port}; give a number from 1 to 65,535, or 0 for one that is free")
        for name in ("workers", "queue", "token_budget", "body_limit"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name.replace('_', ' ')} is {getattr(self, name)}; it must be at least 1")
        if not 0 < self.deadline < float("inf"):
            raise ConfigError(f"deadline is {self.deadline}; give the seconds that a request may take")

    @property
    def cores(self) -> int:
        """Threads of each worker: the one place where that is decided."""
        return self.threads or max(1, available_cores() // self.workers)

    def runtime(self) -> Runtime:
        """What models of a worker run with."""
        return Runtime(threads=self.cores, device=self.device)
