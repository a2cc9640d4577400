"""The layers of an encoder, whatever its family calls them: the lowest, running only those, or only the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from treetop.errors import ConfigError

__all__ = ["lowest", "run_lowest", "skipping"]


class _Enough(Exception):  # noqa: N818 — not an error: it ends a pass whose rest is not wanted
    """The layers that are wanted have run."""


def layers_of(model: Any) -> nn.ModuleList:
    """The encoder's layers: the first list of modules of the right length."""
    count = model.config.num_hidden_layers
    found = next((m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == count), None)
    if found is None:
        raise ConfigError(
            f"the layers of a {model.config.model_type} encoder cannot be frozen one by one; set freeze=0"
        )
    return found


def lowest(model: Any, freeze: int) -> list[nn.Module]:
    """The lowest layers, all before them, and every other embedding (MPNet's position bias feeds all layers)."""
    if not freeze:
        return []
    layers = layers_of(model)
    inside = {id(m) for m in layers.modules()}
    before = itertools.takewhile(lambda child: layers not in list(child.modules()), model.children())
    loose = [m for m in model.modules() if isinstance(m, nn.Embedding) and id(m) not in inside]
    return [*before, *loose, *layers[:freeze]]


def run_lowest(model: Any, count: int, inputs: Mapping[str, Tensor]) -> Tensor | tuple[Any, ...]:
    """What the `count`-th layer returns; the layers above it do not run."""
    caught: list[Any] = []

    def stop(_module: nn.Module, _arguments: Any, output: Any) -> None:
        caught.append(output)
        raise _Enough

    hook = layers_of(model)[count - 1].register_forward_hook(stop)
    try:
        model(**inputs)
    except _Enough:
        pass
    finally:
        hook.remove()
    result: Tensor | tuple[Any, ...] = caught[0]
    return result


@contextmanager
def skipping(model: Any, count: int, result: Tensor | tuple[Any, ...]) -> Iterator[None]:
    """For the time of a block the lowest layers do not run: the last of them returns what is given.

    Those before it hand on what they get, in whatever shape they return things.
    """
    layers = list(layers_of(model)[:count])

    def hand_on(states: Any, *_arguments: Any, **_options: Any) -> Any:
        return (states, *result[1:]) if isinstance(result, tuple) else states

    for layer in layers:
        layer.forward = hand_on
    layers[-1].forward = lambda *_arguments, **_options: result
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward
