"""The card of a model folder, `model.json`: its format, the version that wrote it, its method and all its settings.

A model is readable for ever. A setting that only got another name is in `config.RENAMED`, which serves TOML files, too.
What is more than a name is translated when an old card is read, by a `Migration`: a function from card to card.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from treetop.config import from_dict
from treetop.errors import ConfigError, StoreError
from treetop.store import Folder
from treetop.version import __version__

__all__ = ["CARD", "FORMAT", "MIGRATIONS", "Card", "Migration", "read_card", "read_config"]

FORMAT = 2
"""The version of the model folder's layout; 2: levels in narrow numbers (`kernels.layout`)."""
CARD = "model.json"

Card: TypeAlias = dict[str, Any]
T = TypeVar("T")
_COUNTS, _MEASURES = ("texts", "labels"), ("wall_seconds", "cpu_seconds", "peak_rss_mib")
_MOST = 2**53
_PARTS: dict[str, type[Any]] = {"method": str, "treetop": str, "config": dict, "training": dict}


@dataclass(frozen=True, slots=True)
class Migration:
    """A change of the cards that versions of treetop before `version` wrote."""

    version: str
    change: Callable[[Card], Card]


MIGRATIONS: tuple[Migration, ...] = ()
"""From the oldest to the newest; each sees what those before it have made."""


def read_card(folder: Folder) -> Card:
    """The card of a model folder in the words of this version, or an error that names the file."""
    with folder.reading(CARD) as path:
        return _check_card(folder.read_json(CARD), path)


def _check_card(card: Any, path: Path) -> Card:
    if not isinstance(card, dict) or "method" not in card:
        raise StoreError("this is not the card of a treetop model", path=path)
    if card.get("format") not in range(1, FORMAT + 1):
        raise StoreError(
            f"the model has format {card.get('format')}, this version of treetop reads {FORMAT}; "
            f"train it again, or use treetop {card.get('treetop', 'of that time')}",
            path=path,
        )
    wrong = [name for name, kind in _PARTS.items() if not isinstance(card.get(name), kind)]
    if wrong:
        raise StoreError(f"the card is not complete ('{wrong[0]}'); restore it or train again", path=path)
    if not _measured(card["training"]):
        raise StoreError("what the card says of the training is no count of anything; restore it", path=path)
    return _in_todays_words(card, path)


def _measured(training: Card) -> bool:
    """Whether numbers that are shown and counted with are numbers."""
    counts = all(type(training.get(name)) is int for name in _COUNTS)
    values = [training.get(name, 0) for name in (*_COUNTS, *_MEASURES)]
    return counts and all(isinstance(value, int | float) and 0 <= value < _MOST for value in values)


def read_config(card: Card, config_class: type[T], path: Path) -> T:
    """The settings of a card as a configuration."""
    try:
        return from_dict(config_class, card["config"])
    except ConfigError as error:
        writer = f"treetop {card['treetop']} wrote this card, this is {__version__}"
        raise StoreError(f"{error} ({writer}; use that version, or train again)", path=path) from error


def _in_todays_words(card: Card, path: Path) -> Card:
    written = _numbers(card["treetop"])
    for migration in MIGRATIONS:
        if written < _numbers(migration.version):
            try:
                card = migration.change(card)
            except (KeyError, TypeError, ValueError) as error:
                problem = f"not a card as treetop {card['treetop']} wrote them ({error!r})"
                raise StoreError(f"{problem}; restore it or train again", path=path) from error
    return card


def _numbers(version: str) -> tuple[int, ...]:
    """0.10.2 as numbers that compare; what stands behind them, as in 0.2.0.dev1, does not count."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
