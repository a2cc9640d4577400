"""Docstrings of installed packages as tagged texts, read from the source files with `ast`; nothing is imported.

The text of a function, method or class is the prose of its docstring: the description, and what is said of parameters
and results. Names and types of parameters, examples and cross-references are cut out, so that a label has to be
inferred. The labels say what the text belongs to:

    scipy.stats     the module, at most two parts long
    DataFrame       the class, and for a class the classes it is derived from
    mean()          the function or method
    axis=           a parameter
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

__all__ = ["Docstring", "docstrings", "label_names", "prose"]

_FEWEST_WORDS = 4
_FEWEST_QUOTES = 3
_BYTES_PER_QUOTE = 2500
_HEADING = re.compile(r"^([A-Z][A-Za-z ]{2,30})\n[-=~]{3,}[ ]*\n", re.MULTILINE)
_TOLD = ("Parameters", "Other Parameters", "Returns", "Yields")
_UNINDENTED = re.compile(r"^\S.*$", re.MULTILINE)  # in a section of numpydoc, the lines with name and type
_FIELDS = re.compile(
    r"^[ ]*(?:(?:Args|Arguments|Parameters|Params|Keyword arguments?|Returns?|Yields?|Raises|Examples?|Usage|"
    r"Attributes|See Also|References?)[ ]*:[ ]*$|[:@](?:param|type|return|returns|rtype|raises|arg)\b)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^([ ]*)\.\. [\w:-]+::.*\n?(?:(?:\1[ ]+.*|[ ]*)\n)*", re.MULTILINE)
_EXAMPLE = re.compile(r"^[ ]*>>>.*(?:\n[ ]*\S.*)*", re.MULTILINE)
_ROLE = re.compile(r":[\w:]+:`~?\.?([^`<]+?)(?:\s*<[^>]*>)?`")
_MARKS = re.compile(r"[`*|]+|\[\d+\]_")

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Docstring(NamedTuple):
    """A text and its labels."""

    text: str
    labels: list[str]


def docstrings(path: Path, module: str) -> Iterator[Docstring]:
    """The documented public functions, methods and classes of a source file; none if it cannot be parsed."""
    place = _public_place(module)
    source = path.read_bytes()
    if not place or not _is_worth_parsing(source):
        return
    for owner, node in _definitions(_parsed(source), ""):
        written = ast.get_docstring(node)
        text = prose(written) if written else ""
        if text.count(" ") >= _FEWEST_WORDS - 1:
            yield Docstring(text, [place, *label_names(node, owner)])


def prose(docstring: str) -> str:
    """What a docstring tells in sentences, on one line."""
    description, *sections = _HEADING.split(docstring)
    told = [_FIELDS.split(description, maxsplit=1)[0]]
    for heading, body in zip(sections[::2], sections[1::2], strict=True):
        if heading.strip() in _TOLD:
            told.append(_UNINDENTED.sub("", body))
    text = "\n\n".join(told) + "\n"
    for pattern in (_DIRECTIVE, _EXAMPLE):
        text = pattern.sub("", text)
    return " ".join(_MARKS.sub("", _ROLE.sub(r"\1", text)).split())


def label_names(node: _Definition, owner: str) -> list[str]:
    """Class, name and parameters of a definition, as labels; a parameter of one letter says too little."""
    names = [owner] if owner else []
    if isinstance(node, ast.ClassDef):
        bases = (
            ast.unparse(base).rpartition(".")[2] for base in node.bases if isinstance(base, ast.Name | ast.Attribute)
        )
        return list(dict.fromkeys([*names, node.name, *(base for base in bases if base != "object")]))
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    parameters = [one.arg for one in given if one.arg not in ("self", "cls") and not one.arg.startswith("_")]
    return [*names, f"{node.name}()", *(f"{name}=" for name in parameters if len(name) > 1)]


def _is_worth_parsing(source: bytes) -> bool:
    """Whether there are enough strings in triple quotes for its size; parsing takes most of the time."""
    quotes = source.count(b'"""') + source.count(b"'''")
    return quotes > _FEWEST_QUOTES and quotes * _BYTES_PER_QUOTE > len(source)


def _parsed(source: bytes) -> list[ast.stmt]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as invalid escapes in other people's strings
        try:
            return ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []


def _definitions(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, _Definition]]:
    """Public definitions with the class they are in, also under `if` and `try`; not those inside functions."""
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _definitions(node.body, owner)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield owner, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, node.name)


def _public_place(module: str) -> str:
    """The module as users write it: up to the first private part, and at most two parts."""
    twin = module.removeprefix("_py")
    if (
        module.startswith("_py") and not twin.startswith("_") and twin in sys.stdlib_module_names
    ):  # _pydecimal documents decimal
        return twin
    public: list[str] = []
    for part in module.split(".")[:2]:
        if part.startswith("_"):
            break
        public.append(part)
    return ".".join(public)
