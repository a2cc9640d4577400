"""The processes below a process, as the system tells."""

from __future__ import annotations

from pathlib import Path


def children(parent: int) -> list[int]:
    """Those it started and that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(above) == parent and state != "Z":
            found.append(int(status.parent.name))
    return sorted(found)


def workers(parent: int) -> list[int]:
    """Those that serve; Python has a helper of its own beside them."""
    return [child for child in children(parent) if b"spawn_main" in command(child)]


def command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
