"""Where and from which state of the sources a row was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "commit", "machine"]

ROOT = Path(__file__).resolve().parent.parent


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, and how busy it is just now."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(pages / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 2),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = facts.get("flags", "").split()
    vectors = next((name for name in ("avx512f", "avx2", "sse4_2") if name in flags), "")
    return " ".join(part for part in (facts.get("model name", "unknown"), vectors) if part)


def commit() -> str:
    """The commit, with `+` if files have been changed since."""
    answers = [
        subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        for arguments in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
    ]
    if any(answer.returncode for answer in answers):
        return "unknown"
    return answers[0].stdout.strip() + ("+" if answers[1].stdout.strip() else "")
