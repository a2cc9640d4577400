"""Everything treetop raises on purpose.

    TreetopError
    ├── DataError          a file, a line, a field or a matrix is not what was expected
    ├── ConfigError        an option has an impossible value or an unknown name
    ├── NotFittedError     predict or save before fit
    ├── StoreError         a model folder is damaged, foreign, or of another version
    ├── MissingExtraError  an optional dependency is not installed
    ├── ServiceError       a service does not answer, or refuses a request
    └── ProcessError       another of the processes that train together has gone

A message says what is wrong (with the value), where, and what to do about it. The command line prints it as one line
and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

__all__ = [
    "ConfigError",
    "DataError",
    "MissingExtraError",
    "NotFittedError",
    "ProcessError",
    "ServiceError",
    "StoreError",
    "TreetopError",
    "install_command",
    "needs_neural",
]

_NEURAL = ("torch", "transformers", "tokenizers")


_LONGEST = 1000


class TreetopError(Exception):
    """The base of all errors that are meant for the user. A message stays short, whatever value it tells."""

    def __init__(self, message: str = "") -> None:
        cut = f"{message[: _LONGEST // 2]} […] {message[-_LONGEST // 2 :]}"
        super().__init__(message if len(message) <= _LONGEST else cut)


class DataError(TreetopError, ValueError):
    """Input data is not what was expected; `path` and `line` (from 1) say where, if known."""

    def __init__(self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)
        self.path = path
        self.line = line


class ConfigError(TreetopError, ValueError):
    """An option has an impossible value, or no such option exists."""


class NotFittedError(TreetopError, RuntimeError):
    """A model was asked to predict or to be saved before it learned anything."""


class ProcessError(TreetopError, RuntimeError):
    """Another of the processes that train together has gone."""


class StoreError(TreetopError):
    """A model folder cannot be read or written; `path` names the file."""

    def __init__(self, message: str, *, path: str | PathLike[str]) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class ServiceError(TreetopError):
    """A service that was asked over HTTP does not answer, or refuses; `status` is that of its answer, 0 if none."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class MissingExtraError(TreetopError, ImportError):
    """An optional dependency is missing; the message is the command that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Install it with: {install_command(extra)}")


def install_command(extra: str) -> str:
    """What a user types to get an extra: the package is `treetop`, the distribution on the index `treetop-xmc`."""
    return f"pip install 'treetop-xmc[{extra}]'"


@contextmanager
def needs_neural() -> Iterator[None]:
    """A block that imports the neural parts: if their packages are absent, the error says how to install them."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in _NEURAL:
            raise MissingExtraError(error.name, "neural") from None
        raise
