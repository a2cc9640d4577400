"""The packages that serving takes, and what to say where they are missing."""

from __future__ import annotations

import importlib.util

from treetop.errors import MissingExtraError

__all__ = ["check_installed"]

_NEEDED = ("starlette", "msgspec", "uvicorn", "prometheus_client")


def check_installed() -> None:
    """Refuse to serve without them, with the command that installs them."""
    for package in _NEEDED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "serve")
