"""What endpoints work with: the models, the settings, the queues, the watch, and where feedback goes."""

from __future__ import annotations

from pathlib import Path

from treetop.apps.serve.batching import Batcher
from treetop.apps.serve.keeping import Keeper
from treetop.apps.serve.keys import Keys
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.shelf import Shelf
from treetop.apps.serve.watch import Watch

__all__ = ["Service"]


class Service:
    """A service at work, in one process."""

    def __init__(self, settings: Settings, folders: dict[str, Path], watch: Watch) -> None:
        self.settings, self.watch = settings, watch
        self.shelf = Shelf(folders, settings.runtime())
        self.keeper = None if settings.feedback is None else Keeper(settings.feedback)
        self.keys: Keys | None = None
        self.read_keys()
        self.encoding = Batcher(settings.queue, settings.token_budget, watch.took)
        self.ranking = Batcher(settings.queue, settings.token_budget, watch.took)
        self.draining = False

    def read_keys(self) -> None:
        """The keys as they are in their file now."""
        if self.settings.keys is not None:
            self.keys = Keys.read(self.settings.keys)

    def queue_of(self, model: ServedModel) -> Batcher:
        """Where texts wait: many for a linear model do not wait behind those for an encoder."""
        return self.encoding if model.needs_encoder else self.ranking
