"""Drills: treetop is killed, starved and lied to, over and over, and every failure is counted.

`python -m drills run` runs them, each for some time; `docs/reliability.md` is made from what they recorded.
"""

from __future__ import annotations
