"""What is seen of a page in a browser by the tests in `tests/browser`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Watched:
    """A tab of the browser, what went wrong in it, and the addresses it asked for."""

    page: Any
    troubles: list[str] = field(default_factory=list)
    """Errors in the console, and exceptions nobody caught. A test that provokes one clears it."""
    asked: list[str] = field(default_factory=list)

    @property
    def abroad(self) -> list[str]:
        """Requests that left the machine."""
        home = ("file:", "data:", "blob:", "about:", "http://127.0.0.1", "http://localhost")
        return [address for address in self.asked if not address.startswith(home)]
