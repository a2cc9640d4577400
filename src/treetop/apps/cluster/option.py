"""What `--cluster` means to the commands that have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Optional

import typer

from treetop.errors import ConfigError
from treetop.methods.registry import method_record, trainable
from treetop.runtime import Runtime

__all__ = ["Machines"]

_WHERE = "Let a Ray cluster do it; local:3 starts three nodes on this machine."
_SHARED = "Folder that all machines of the cluster see; beside the result if absent."


@dataclass(frozen=True)
class Machines:
    """Who does the work, if not this process alone."""

    title: ClassVar[str] = "Cluster"
    cluster: Annotated[Optional[str], typer.Option(metavar="auto|ADDRESS|local:N", help=_WHERE)] = None  # noqa: UP045
    shared: Annotated[Optional[Path], typer.Option(help=_SHARED)] = None  # noqa: UP045

    def __post_init__(self) -> None:
        if self.shared is not None and self.cluster is None:
            raise ConfigError("--shared is where the machines of a cluster meet; give --cluster with it")

    def check(self, method: str, *, chooses: bool = False) -> None:
        """Refuse what a cluster has no part in."""
        if self.cluster is None:
            return
        if chooses:
            raise ConfigError(
                "--cluster trains what is chosen already: give --method, --preset or --config; `treetop tune` finds one"
            )
        if not method_record(method).has("pieces"):
            names = ", ".join(record.name for record in trainable() if record.has("pieces"))
            raise ConfigError(f"--cluster trains linear classifiers, '{method}' has none; choose one of {names}")

    def folder(self, out: Path) -> Path:
        """Where machines meet: beside the result, unless a folder is given."""
        return (self.shared or out.parent) / f"{out.name}.cluster"

    def predicting(self, out: Path | None) -> Path:
        """The same for suggestions, of which each question has a place of its own only if it has a file."""
        if out is None:
            raise ConfigError("--cluster gathers suggestions in a file; give --out")
        return self.folder(out)

    @contextmanager
    def training(self, runtime: Runtime, out: Path) -> Iterator[Runtime]:
        """A block in which the machines do the pieces of large work."""
        if self.cluster is None:
            yield runtime
            return
        from treetop.apps.cluster.connecting import connected

        with connected(self.cluster):
            from treetop.apps.cluster.workers import RayWorkers

            yield replace(runtime, workers=RayWorkers(self.folder(out)))
