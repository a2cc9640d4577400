"""The OpenAPI description as a page for people: plain HTML, nothing loaded from elsewhere, no script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

__all__ = ["CSS", "handbook"]

CSS = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --mark: #2a7f62; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; padding: .5rem .9rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
code, pre { font: .9em/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .7rem; border-radius: .4rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95em; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
.method { font-weight: 600; color: var(--mark); display: inline-block; min-width: 3.2rem; }
.scroll { overflow-x: auto; }
"""


def handbook(description: dict[str, Any]) -> str:
    """The whole page."""
    info, schemas = description["info"], description["components"]["schemas"]
    groups: dict[str, list[str]] = {}
    for path, methods in description["paths"].items():
        for method, about in methods.items():
            groups.setdefault(about["tags"][0], []).append(_operation(method, path, about, schemas))
    parts = [f"<h2>{escape(group)}</h2>{''.join(found)}" for group, found in groups.items()]
    types = "".join(_type(name, schema) for name, schema in schemas.items())
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(info['title'])} API</title><link rel='stylesheet' href='docs.css'></head><body><main>"
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])} "
        f"For programs: <a href='openapi.json'>openapi.json</a>.</p>{''.join(parts)}<h2>Types</h2>{types}"
        "</main></body></html>"
    )


def _operation(method: str, path: str, about: dict[str, Any], schemas: dict[str, Any]) -> str:
    body = about.get("requestBody", {}).get("content", {})
    rows = [(one["name"], one["schema"], one.get("description", "")) for one in about.get("parameters", [])]
    taken = "".join(f"<p>Takes {escape(kind)}: {_named(one['schema'])}</p>" for kind, one in body.items())
    given = "".join(_given(status, one) for status, one in about["responses"].items() if status < "300")
    example = f"<pre>{escape(_curl(method, path, body, schemas))}</pre>"
    head = f"<span class='method'>{method.upper()}</span> <code>{escape(path)}</code> — {escape(about['summary'])}"
    said = f"<p>{escape(about['description'])}</p>"
    return f"<details><summary>{head}</summary>{said}{_table(rows)}{taken}{given}{example}</details>"


def _given(status: str, answer: dict[str, Any]) -> str:
    what = ", ".join(map(_content, answer.get("content", {}).items())) or escape(answer["description"])
    return f"<p>Gives {escape(status)}: {what}</p>"


def _content(one: tuple[str, Any]) -> str:
    kind, about = one
    return _named(about["schema"]) if "$ref" in str(about["schema"]) else escape(kind)


def _type(name: str, schema: dict[str, Any]) -> str:
    rows = [(field, about, about.get("description", "")) for field, about in schema.get("properties", {}).items()]
    said = escape(schema.get("description", ""))
    head = f"<summary><code>{escape(name)}</code></summary>"
    return f"<details id='{escape(name)}'>{head}<p>{said}</p>{_table(rows)}</details>"


def _table(rows: list[tuple[str, Any, str]]) -> str:
    if not rows:
        return ""
    cells = (
        (f"<code>{escape(name)}</code>", _named(about) + _default(about), escape(said)) for name, about, said in rows
    )
    lines = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in cells)
    return f"<div class='scroll'><table><tr><th>field</th><th>type</th><th></th></tr>{lines}</table></div>"


def _default(schema: Any) -> str:
    return f", else <code>{escape(str(schema['default']))}</code>" if schema.get("default") is not None else ""


def _named(schema: Any) -> str:
    """A type in words, with a link to those that have a name."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#{name}'><code>{name}</code></a>"
    if "anyOf" in schema:
        return " or ".join(_named(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_named(schema.get('items', {}))}"
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(one))}</code>" for one in schema["enum"])
    return escape(f"{schema.get('type', 'anything')}{' ' if _limits(schema) else ''}{_limits(schema)}")


def _limits(schema: Any) -> str:
    ends = [str(schema[end]) for end in ("minimum", "maximum") if end in schema]
    return f"({' to '.join(ends)})" if ends else ""


def _curl(method: str, path: str, body: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A line for the shell."""
    if method == "get":
        return f"curl http://127.0.0.1:8000{path}"
    kind, about = next(iter(body.items()))
    name = str(about["schema"].get("$ref", "")).rpartition("/")[2]
    required = list(_examples(schemas.get(name, {})))
    if kind == "application/json":
        fields = ", ".join(f'"{field}": {value}' for field, value in required)
        return f"curl http://127.0.0.1:8000{path} --json '{{{fields}}}'"
    return f"curl http://127.0.0.1:8000{path} -d '{'&'.join(f'{field}=…' for field, _ in required)}'"


def _examples(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in schema.get("required", []):
        yield field, '["…"]' if schema["properties"][field].get("type") == "array" else '"…"'
