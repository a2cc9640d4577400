"""The models of a service by their names."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from treetop.apps.serve.model import ServedModel, version_of
from treetop.apps.serve.problems import ProblemError
from treetop.errors import ConfigError
from treetop.methods.card import CARD
from treetop.runtime import Runtime

__all__ = ["Shelf", "named_folders"]

log = logging.getLogger("treetop.serve")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Shelf:
    """Models by name, in the order in which they were given; the first answers where no name is given."""

    def __init__(self, folders: dict[str, Path], runtime: Runtime) -> None:
        self.folders, self.runtime = folders, runtime
        self._models: dict[str, ServedModel] = {}
        self._seen: dict[str, object] = {}

    def load(self) -> None:
        """Open and try all of them."""
        for name, path in self.folders.items():
            seen = _state(path)
            self._models[name] = ServedModel.load(name, path, self.runtime)
            self._seen[name] = seen

    def refresh(self, *, all_of_them: bool = False) -> None:
        """Exchange the models whose folders have been replaced; a new one that does not answer changes nothing.

        Requests that are under way end on the model that they began with.
        """
        for name, path in self.folders.items():
            seen = _state(path)
            if seen is None or (seen == self._seen[name] and not all_of_them):
                continue  # a folder that is being replaced is not there for a moment
            self._seen[name] = seen
            try:
                if version_of(path) != self._models[name].version:
                    self._models[name] = ServedModel.load(name, path, self.runtime)
                    log.info("%s was exchanged for version %s", name, self._models[name].version)
            except Exception as error:  # of whatever kind: the old model is as good as before
                problem = " ".join(str(error).split()) or type(error).__name__
                log.error("%s stays as it is: the new model cannot be used (%s)", name, problem)

    @property
    def complete(self) -> bool:
        """Whether all models answer."""
        return len(self._models) == len(self.folders)

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(list(self._models.values()))

    def __getitem__(self, name: str | None) -> ServedModel:
        if name is None:
            name = next(iter(self.folders))
        found = self._models.get(name)
        if found is None:
            raise self._absent(name)
        return found

    def _absent(self, name: str) -> ProblemError:
        if name in self.folders:
            return ProblemError(503, f"the model '{name}' is being loaded", headers={"retry-after": "1"})
        near = difflib.get_close_matches(name[:100], self.folders, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.folders)}"
        return ProblemError(404, f"there is no model of that name; {hint}", field="model")


def _state(path: Path) -> object:
    """What changes when a model folder is replaced, at the cost of a look; None if there is none."""
    try:
        about = (path / CARD).stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size


def named_folders(given: Iterable[str]) -> dict[str, Path]:
    """Folders by the names that models are asked for by: `NAME=FOLDER`, or the name of the folder."""
    found: dict[str, Path] = {}
    for one in given:
        name, equals, path = one.partition("=")
        folder = Path(path if equals else one)
        name = name if equals else folder.resolve().name
        if not _NAME.fullmatch(name):
            raise ConfigError(f"a model cannot be called {name!r}; write NAME={folder}, with letters, digits, . _ -")
        if name in found:
            raise ConfigError(f"two models are called '{name}'; name one of them, as other={folder}")
        found[name] = folder
    return found
