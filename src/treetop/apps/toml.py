"""Settings as TOML that people can read and change."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from treetop.config import to_dict
from treetop.methods.catalogue import METHODS
from treetop.methods.registry import method_class
from treetop.methods.resolving import resolve
from treetop.presets.registry import preset

__all__ = ["all_settings", "lines"]

Place: TypeAlias = tuple[str, ...]


def all_settings(name: str) -> str:
    """A file for `--config` with every setting of a method or preset, and what each is."""
    if name in METHODS:
        method, about = name, f"{METHODS[name].summary}. Every setting with its default."
        config = method_class(name).config_class()
    else:
        entry = preset(name)
        method, about = entry.method, f"{entry.summary} ({entry.source})"
        config = resolve(method, preset_name=name)
    head = [f"# {line}" for line in textwrap.wrap(f"{name}: {about}", 110)]
    return "\n".join([*head, f'method = "{method}"', *lines(to_dict(config), _notes(config))]) + "\n"


def lines(values: Mapping[str, Any], notes: Mapping[Place, str] | None = None, path: Place = ()) -> Iterator[str]:
    """A table of TOML, its plain values first; what is None has no line, or with notes one that is commented out."""
    plain = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    if notes is None:
        plain = {name: value for name, value in plain.items() if value is not None}
    if path and plain:
        yield from ("", f"[{'.'.join(path)}]")
    for name, value in plain.items():
        written = f"# {name} =" if value is None else f"{name} = {json.dumps(value, ensure_ascii=False)}"
        note = (notes or {}).get((*path, name))
        yield written if note is None else f"{written:<28}  # {note}"
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from lines(value, notes, (*path, name))


def _notes(config: Any, path: Place = ()) -> dict[Place, str]:
    """What stands below each field in the source of a configuration, and of those that are parts of it."""
    found: dict[Place, str] = {}
    body = ast.parse(textwrap.dedent(inspect.getsource(type(config)))).body[0].body  # type: ignore[attr-defined]
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[(*path, ast.unparse(field.target))] = " ".join(str(below.value.value).split())
    for part in dataclasses.fields(config):
        value = getattr(config, part.name)
        if dataclasses.is_dataclass(value):
            found |= _notes(value, (*path, part.name))
    return found
