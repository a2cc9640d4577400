"""What people run: thin programs on top of the library."""

from __future__ import annotations
