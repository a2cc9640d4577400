"""Damage, at random but repeatable: one change of a folder, from a flipped bit to a pipe in place of a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["MARKER", "mutate"]

MARKER = "code-was-run"
"""The file beside the folder that code smuggled into it would make."""
_CODE = "import pathlib\npathlib.Path({marker!r}).touch()\nclass Own:\n    pass\n"
_DEEP = 5000


def mutate(folder: Path, random: Random) -> str:
    """Change one thing in a folder; what it was, in words."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = random.choice(files)
    change = random.choice(_CHANGES + (_OF_JSON if path.suffix in (".json", ".jsonl", ".safetensors") else ()))
    return f"{change.__name__.strip('_')} {path.relative_to(folder)} {change(path, random, files)}"


def _flip(path: Path, random: Random, _: list[Path]) -> str:
    content = bytearray(path.read_bytes())
    places = [random.randrange(len(content)) for _ in range(random.choice((1, 1, 2, 8)))] if content else []
    for place in places:
        content[place] = random.randrange(256)
    path.write_bytes(content)
    return f"at {places}"


def _cut(path: Path, random: Random, _: list[Path]) -> str:
    size = random.randrange(path.stat().st_size + 1)
    os.truncate(path, size)
    return f"to {size}"


def _grow(path: Path, random: Random, _: list[Path]) -> str:
    content, place = path.read_bytes(), random.randrange(path.stat().st_size + 1)
    more = random.choice((b"\0" * 64, content[:100], b"{}\n", b"[" * _DEEP))
    path.write_bytes(content[:place] + more + content[place:])
    return f"by {len(more)} at {place}"


def _exchange(path: Path, random: Random, files: list[Path]) -> str:
    other = random.choice(files)
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)
    return f"with {other.name}"


def _remove(path: Path, random: Random, _: list[Path]) -> str:
    path.unlink()
    replacement = random.choice(("nothing", "pipe", "folder", "zeros", "itself", "empty"))
    if replacement == "pipe":
        os.mkfifo(path)
    elif replacement == "folder":
        path.mkdir()
    elif replacement == "empty":
        path.touch()
    elif replacement != "nothing":
        path.symlink_to({"zeros": "/dev/zero", "itself": path.name}[replacement])
    return f"and put {replacement} there"


def _smuggle(path: Path, random: Random, files: list[Path]) -> str:
    """Code beside an encoder, and a wish for it."""
    named = [one for one in files if one.name in ("config.json", "tokenizer_config.json", "model.json")]
    target = random.choice(named or [path])
    (target.parent / "own.py").write_text(_CODE.format(marker=str(_root(target, files).parent / MARKER)))
    wish = random.choice(({"AutoConfig": "own.Own", "AutoModel": "own.Own"}, {"AutoTokenizer": ["own.Own", "own.Own"]}))
    value = json.loads(target.read_text(encoding="utf-8"))
    if isinstance(value, dict):
        value |= {"auto_map": wish, **({"model_type": "own"} if random.random() < 0.5 else {})}
        target.write_text(json.dumps(value), encoding="utf-8")
    return f"into {target.name}"


def _root(path: Path, files: list[Path]) -> Path:
    return Path(os.path.commonpath([path.parent, *(one.parent for one in files)]))


def _alter(path: Path, random: Random, _: list[Path]) -> str:
    """One value of a JSON file, of a line of one, or of the header of tensors."""
    if path.suffix == ".safetensors":
        return _alter_header(path, random)
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines() or ["{}"]
        number = random.randrange(len(lines))
        value, words = _altered(json.loads(lines[number]), random)
        lines[number] = json.dumps(value)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return f"line {number}, {words}"
    value, words = _altered(json.loads(path.read_text(encoding="utf-8")), random)
    path.write_text(json.dumps(value), encoding="utf-8")
    return words


def _alter_header(path: Path, random: Random) -> str:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    value, words = _altered(json.loads(content[8 : 8 + length]), random)
    header = json.dumps(value).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + length :])
    return words


def _altered(value: Any, random: Random) -> tuple[Any, str]:
    """The value with something at a random place exchanged, added or left out."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.1:
        new = random.choice(_VALUES)
        return new, f"to {str(new)[:40]!r}"
    key: Any = random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
    action = random.choice(("deeper", "deeper", "deeper", "drop", "rename"))
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if action == "deeper":
        copy[key], words = _altered(value[key], random)
        return copy, f"{str(key)[:40]} {words}"
    taken = copy.pop(key)
    if action == "rename" and isinstance(copy, dict):
        copy[f"{key}x"] = taken
    return copy, f"{action} {str(key)[:40]}"


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.5, -0.0, 1e308, float("inf"),
    float("nan"), "", "x", "x" * 10_000, "../../..", "/etc/passwd", "\0", "\ud800", [], {}, [[]], {"a": {}},
    [1, 2, 3], ["a"], _nested(300),
)  # fmt: skip
_CHANGES: tuple[Callable[[Path, Random, list[Path]], str], ...] = (_flip, _cut, _grow, _exchange, _remove, _smuggle)
_OF_JSON: tuple[Callable[[Path, Random, list[Path]], str], ...] = (_alter,) * 6
