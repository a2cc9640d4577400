"""One file per peer, each run as `python -m benchmarks.peers.NAME` by the Python of that peer's own environment."""

from __future__ import annotations
