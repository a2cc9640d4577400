"""What this process holds in memory, and the most it held for some time: Linux tells."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["forget_peak", "held", "peak"]

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SELF = Path("/proc/self")


def held() -> int:
    """Bytes held now."""
    return int((_SELF / "statm").read_text(encoding="ascii").split()[1]) * _PAGE


def forget_peak() -> None:
    """From now on, `peak` tells of what comes."""
    (_SELF / "clear_refs").write_text("5", encoding="ascii")


def peak() -> int:
    """The most bytes held since `forget_peak`."""
    for line in (_SELF / "status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0
