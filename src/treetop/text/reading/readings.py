"""What an encoder makes of the training texts, read again only if it has learned since.

Trainings ask for it between levels, for linear starts and for the ranker's features. With a folder of checkpoints the
states are kept there until the training ends, so that a run that is resumed does not read what it has read before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treetop.errors import StoreError
from treetop.runtime import Runtime, is_leader
from treetop.store import Folder
from treetop.text.encoder import TextEncoder
from treetop.text.reading.choosing import WORTH_EXPORTING, Layers, engines_for, export_reader
from treetop.text.reading.text_reader import TextReader
from treetop.text.reading.torch_reader import EncoderReader
from treetop.text.states import KEPT
from treetop.text.tokens import Tokens
from treetop.types import Dense

__all__ = ["Readings"]


class Peers(Protocol):
    """Other processes that read the same texts."""

    def told(self, make: Callable[[], bool]) -> bool:
        """What the leading process makes of it."""

    def divided(self, read: Callable[[NDArray[np.int64]], Dense], texts: int, width: int) -> Dense:
        """The states of all texts, of which each process reads some."""


class Readings:
    """The states of all texts after some layers of an encoder that goes on learning."""

    def __init__(
        self,
        encoder: TextEncoder,
        layers: Layers,
        tokens: Tokens,
        runtime: Runtime,
        folder: Path | None = None,
        peers: Peers | None = None,
    ) -> None:
        self.encoder, self.layers, self.tokens, self.runtime, self.folder = encoder, layers, tokens, runtime, folder
        self.peers = peers
        self._reader: TextReader | None = None
        self._digest = ""
        self._states: dict[bool, Dense] = {}

    def states(self, *, final: bool = False) -> Dense:
        """Under the encoder as it is now: (texts, layers · width); `final` ones are read as they will be to predict."""
        self._look()
        worth = final or len(self.tokens) >= WORTH_EXPORTING
        exported = worth and bool(engines_for(self.encoder.config, self.runtime))
        if exported not in self._states:
            self._states[exported] = self._read(exported)
        return self._states[exported]

    @property
    def reader(self) -> TextReader:
        """The encoder as it is now, as it will be read to predict."""
        self._look()
        if self._reader is None:
            self._reader = export_reader(self.encoder, self.layers, self.tokens, self.runtime)
        return self._reader

    def _look(self) -> None:
        """Forget what an encoder said that has learned since."""
        digest = self.encoder.digest()
        if digest != self._digest:
            self._digest, self._reader, self._states = digest, None, {}

    def _read(self, exported: bool) -> Dense:
        name = f"{KEPT}{self._digest}-{'exported' if exported else 'torch'}.safetensors"
        if self.peers is None or self.peers.told(lambda: self._found(name) is not None):
            known = self._found(name)
            if known is not None:
                return known
        own = EncoderReader(self.encoder, self.layers(self.encoder.layers), self.runtime)
        reader = self.reader if exported else own
        states = (
            reader.read(self.tokens, self.runtime)
            if self.peers is None
            else self.peers.divided(
                lambda rows: reader.read(self.tokens.take(rows), self.runtime), len(self.tokens), self._width
            )
        )
        if self.folder is not None and is_leader():
            part = f"{name}.part"
            Folder(self.folder).write_tensors(part, {"states": states})
            (self.folder / part).replace(self.folder / name)
        return states

    @property
    def _width(self) -> int:
        return self.encoder.width * len(self.layers(self.encoder.layers))

    def _found(self, name: str) -> Dense | None:
        if self.folder is None or not (self.folder / name).exists():
            return None
        try:
            states = Folder(self.folder).read_tensors(name).get("states", np.empty(0))
        except StoreError:
            return None
        shape = (len(self.tokens), self._width)
        return np.array(states) if states.shape == shape else None
