"""treetop side by side with its peers: same data, same machine, same run (`python -m benchmarks --help`).

This file and `benchmarks.peers` import nothing but numpy and scipy, because every peer's own environment reads them.
"""

from __future__ import annotations
