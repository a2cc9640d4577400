"""Configuration: frozen dataclasses, strict in what they accept, to and from plain dictionaries and TOML.

Precedence: preset < TOML file < `--set a.b=c`. An unknown key is an error that offers the nearest name.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import operator
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from treetop.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["adjust", "difference", "from_dict", "merge", "override", "read_toml", "settle", "to_dict", "unfold"]

T = TypeVar("T")
_TOO_LARGE = 2**31
_LONGEST_SHOWN = 200
_FEW = 4  # settings that a message names


def to_dict(config: Any) -> dict[str, Any]:
    """The configuration as plain dictionaries, lists, strings and numbers: what JSON and TOML can hold."""
    return {field.name: _plain(getattr(config, field.name)) for field in dataclasses.fields(config)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def from_dict(cls: type[T], values: Mapping[str, Any], *, where: str = "") -> T:
    """A configuration of class `cls`; what is not named keeps its default, also inside a table that is.

    `where` prefixes names in messages.
    """
    defaults = {field.name: _default(field) for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    return cls(**_converted(cls, defaults, values, where))


def adjust(config: T, settings: Mapping[str, Any], *, where: str = "") -> T:
    """The configuration with settings written over it: values, tables of values, or ready configurations of parts."""
    fields = dataclasses.fields(config)  # type: ignore[arg-type]
    current = {field.name: getattr(config, field.name) for field in fields}
    changed = _converted(type(config), current, settings, where)
    return dataclasses.replace(config, **changed)  # type: ignore[type-var]


def settle(config: Any) -> None:
    """Convert what a configuration was made with, as strictly as TOML; for the first line of its `__post_init__`."""
    hints = _hints(type(config))  # type: ignore[arg-type]  # mypy takes no class for hashable
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        made = _set(hints[field.name], _default(field), value, field.name)
        if made is not value:
            object.__setattr__(config, field.name, made)


def difference(config: Any, base: Any) -> dict[str, Any]:
    """What of a configuration differs from another of its kind: values, and tables of values."""
    found = {}
    for field in dataclasses.fields(config):
        value, other = getattr(config, field.name), getattr(base, field.name)
        if field.compare and value != other:
            parts = dataclasses.is_dataclass(value) and type(value) is type(other)
            found[field.name] = difference(value, other) if parts else value
    return found


def unfold(settings: Mapping[str, Any]) -> dict[str, Any]:
    """`tree__max_leaf=50`, as scikit-learn writes it, as `tree={"max_leaf": 50}`."""
    unfolded = {name: value for name, value in settings.items() if "__" not in name}
    for name in settings.keys() - unfolded.keys():
        table, _, inner = name.partition("__")
        given, update = unfolded.get(table, {}), unfold({inner: settings[name]})
        if dataclasses.is_dataclass(given):
            unfolded[table] = adjust(given, update, where=f"{table}.")
        elif isinstance(given, Mapping):
            unfolded[table] = merge(given, update)
        else:
            raise ConfigError(f"'{name}' sets something inside '{table}', which is {given!r}; give one of them")
    return unfolded


RENAMED: dict[str, tuple[str, dict[Any, Any]]] = {
    "half": ("weights", {False: "float32", True: "float16"}),
}
"""Settings of earlier versions: their new name, and what their values are now. Old models and files keep working."""


def _renamed(values: Mapping[str, Any], known: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """The values with old names replaced by those that are known."""
    result = dict(values)
    for old, (new, meaning) in RENAMED.items():
        if old not in values or old in known or new not in known:
            continue
        if new in values:
            raise ConfigError(f"'{where}{old}' is the old name of '{where}{new}'; give one of them")
        value = result.pop(old)
        result[new] = meaning.get(value, value) if isinstance(value, bool | str) else value
    return result


def merge(base: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `update` written over it, table by table."""
    result = dict(base)
    for name, value in _renamed(update, base).items():
        both_tables = isinstance(value, Mapping) and isinstance(result.get(name), Mapping)
        result[name] = merge(result[name], value) if both_tables else value
    return result


def override(config: T, assignments: str | Sequence[str]) -> T:
    """The configuration with dotted assignments such as `tree.max_leaf=64` applied."""
    update: dict[str, Any] = {}
    for assignment in [assignments] if isinstance(assignments, str) else assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path.strip():
            raise ConfigError(
                f"'{assignment}' is not an assignment; write it as name=value, for example tree.max_leaf=64"
            )
        *tables, last = path.strip().split(".")
        table = update
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise ConfigError(f"'{assignment}' sets something inside '{name}', which was given a value before")
        table[last] = _parse(text.strip())
    return adjust(config, update)


def check_whole(name: str, value: Any) -> None:
    """Refuse what is no whole number, such as text or a fraction; those of numpy are."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise ConfigError(f"{name} is {value!r} ({type(value).__name__}); give a whole number")


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such configuration file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and brackets in brackets in …
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


def _parse(text: str) -> Any:
    if text.lower() in ("none", "null"):
        return None
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except (ValueError, RecursionError):  # also numbers of thousands of digits, and brackets in brackets in …
        return text


def _converted(cls: type[Any], current: Mapping[str, Any], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values of a table as the fields of a class want them; `current` is what they are written over."""
    hints, found = _hints(cls), {}  # type: ignore[arg-type]
    for name, value in _renamed(values, hints, where).items():
        if name not in hints:
            hint = _places(name, current) or _nearest(name, list(hints))
            raise ConfigError(f"unknown option '{where}{name}'{hint}")
        found[name] = _set(hints[name], current[name], value, f"{where}{name}")
    return found


def _set(hint: Any, current: Any, value: Any, where: str) -> Any:
    if isinstance(value, Mapping) and dataclasses.is_dataclass(current):
        return adjust(current, value, where=where + ".")
    return _convert(hint, value, where)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    """The types of the fields of a class; Python takes a tenth of a millisecond for each to find them."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _places(name: str, current: Mapping[str, Any]) -> str:
    """The parts of a configuration that have a setting of this name."""
    found = []
    parts = [(part, value) for part, value in current.items() if dataclasses.is_dataclass(value)]
    for part, value in parts:  # grows meanwhile: parts have parts
        inner = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        found += [f"'{part}.{name}'"] if name in inner else []
        parts += [(f"{part}.{one}", other) for one, other in inner.items() if dataclasses.is_dataclass(other)]
    return f"; did you mean {' or '.join(found)}?" if found else ""


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else f"; known options: {', '.join(known)}"


def _is_plain(hint: Any, value: Any) -> bool:
    """Whether a value is of a simple type; Python 3.10 calls list[int] a type, and a bool is an int everywhere."""
    simple = isinstance(hint, type) and typing.get_origin(hint) is None
    return simple and isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def _convert(hint: Any, value: Any, where: str) -> Any:
    if type(value).__module__ == "numpy":  # as a grid of settings may hold them
        value = value.tolist()
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, hint):
            return value
        if isinstance(value, Mapping):
            return from_dict(hint, value, where=where + ".")
    elif origin in (typing.Union, types.UnionType):
        return _convert_union(arguments, value, where, hint)
    elif origin is typing.Literal:
        return _convert_choice(arguments, value, where)
    elif origin is tuple and isinstance(value, list | tuple):
        return _convert_tuple(arguments, value, where)
    elif hint in (int, float) and isinstance(value, int | float) and not isinstance(value, bool):
        return _convert_number(hint, value, where)
    elif _is_plain(hint, value):
        return value
    raise ConfigError(f"'{where}' is {_shown(value)}; expected {_named(hint)}")


def _named(hint: Any) -> str:
    """What is expected, in words; of a part, what its table begins with."""
    name = str(getattr(hint, "__name__", hint))
    if not dataclasses.is_dataclass(hint):
        return name
    settings = [field.name for field in dataclasses.fields(hint)]
    return f"{name}, or a table of its settings: {', '.join(settings[:_FEW])}{', …' if settings[_FEW:] else ''}"


def _convert_number(hint: Any, value: float, where: str) -> Any:
    """A number that the kernels can count with: whole ones have 32 bits there, and none is infinite."""
    if hint is int and not isinstance(value, int):
        raise ConfigError(f"'{where}' is {value!r}; expected int")
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise ConfigError(f"'{where}' is {_shown(value)}; whole numbers end at {_TOO_LARGE - 1:,}")
    if not math.isfinite(value):
        raise ConfigError(f"'{where}' is {value}; expected a finite number")
    return hint(value)


def _shown(value: Any) -> str:
    """A value as in code, but not a page of it."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write out thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _convert_choice(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and "none" in choices:
        return "none"  # how an assignment such as `optim.average=none` reads
    if value in choices:
        return value
    raise ConfigError(f"'{where}' is {_shown(value)}; choose one of {', '.join(repr(choice) for choice in choices)}")


def _convert_union(choices: tuple[Any, ...], value: Any, where: str, hint: Any) -> Any:
    if value is None and type(None) in choices:
        return None
    problem = ConfigError(f"'{where}' is {_shown(value)}; expected {hint}")
    for choice in choices:
        if choice is type(None):
            continue
        try:
            return _convert(choice, value, where)
        except ConfigError as error:
            if dataclasses.is_dataclass(choice) or len(choices) == 2:
                problem = error
    raise problem


def _convert_tuple(arguments: tuple[Any, ...], values: Sequence[Any], where: str) -> tuple[Any, ...]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = arguments[:1] * len(values)
    if len(arguments) != len(values):
        raise ConfigError(f"'{where}' has {len(values)} values; expected {len(arguments)}")
    pairs = zip(arguments, values, strict=True)
    return _as_given(values, tuple(_convert(hint, value, f"{where}[{i}]") for i, (hint, value) in enumerate(pairs)))


def _as_given(values: Sequence[Any], converted: tuple[Any, ...]) -> tuple[Any, ...]:
    """The very tuple that was given if nothing in it had to change: scikit-learn's `clone` asks for it."""
    unchanged = isinstance(values, tuple) and all(map(operator.is_, values, converted))
    return values if unchanged else converted  # type: ignore[return-value]
