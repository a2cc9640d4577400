"""Keys that requests must come with, from a file with one per line."""

from __future__ import annotations

import hmac
from pathlib import Path

from treetop.apps.serve.problems import ProblemError
from treetop.errors import ConfigError

__all__ = ["Keys"]

_SHORTEST = 16


class Keys:
    """The keys that open the service."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = keys

    @classmethod
    def read(cls, path: Path) -> Keys:
        """A key per line; empty lines and those that begin with # are none."""
        try:
            lines = [line.strip() for line in path.read_bytes().splitlines()]
        except OSError as error:
            raise ConfigError(f"the keys in {path} cannot be read ({error.strerror})") from None
        keys = [line for line in lines if line and not line.startswith(b"#")]
        if not keys or min(map(len, keys)) < _SHORTEST:
            what = "no key" if not keys else f"a key of less than {_SHORTEST} characters"
            advice = "write one per line, as `python -c 'import secrets; print(secrets.token_urlsafe())'` makes it"
            raise ConfigError(f"{path} has {what}; {advice}")
        return cls(keys)

    def check(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Refuse a request without one of the keys; how long that takes tells nothing about them."""
        given = b""
        for name, value in headers:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                given = value[7:].strip()
            elif name == b"x-api-key":
                given = value.strip()
        if not sum(hmac.compare_digest(key, given) for key in self._keys):
            raise ProblemError(
                401, "this service asks for a key: send the header Authorization: Bearer KEY",
                headers={"www-authenticate": "Bearer"},
            )  # fmt: skip
