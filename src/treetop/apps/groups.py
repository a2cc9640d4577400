"""Options that belong together: a dataclass whose fields are options, which a command takes as one argument.

A command that takes `running: Running`, of which `threads` is a field, has an option `--threads`. The group's `title`
stands above its options in the help.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints

__all__ = ["ungrouped"]


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as arguments of their own, which is what typer understands."""
    own = signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)}
    parameters: list[Parameter] = []
    for name, one in own.items():
        parameters += _members(groups[name]) if name in groups else [one.replace(kind=Parameter.KEYWORD_ONLY)]

    @wraps(command)
    def with_groups(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    with_groups.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_groups


def _members(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=_titled(hints[field.name], group.title),
        )
        for field in fields(group)
    ]


def _titled(hint: Any, title: str) -> Any:
    """The annotation of an option, with the title that it stands under."""
    kind, option = get_args(hint)
    option = copy(option)
    option.rich_help_panel = title
    return Annotated[kind, option]
