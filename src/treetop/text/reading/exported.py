"""An encoder exported for another engine: a folder with its graph, and a description that tells how to feed it.

    encoder/openvino/reading.json     the engine, its precision, layers, special tokens, digests of the other files
    encoder/openvino/graph.xml, …     whatever the engine wants

The weights beside it (`encoder/*.safetensors`) stay the truth; an exported graph can be made from them again.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from treetop.config import from_dict
from treetop.errors import ConfigError, StoreError
from treetop.store import Folder
from treetop.text.tokens import Frame

__all__ = ["FILE", "Exported"]

FORMAT = 1
FILE = "reading.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """What is known of an exported encoder."""

    engine: str
    """As in `encoder.reader`."""
    precision: str
    """What it computes with."""
    layers: tuple[int, ...]
    """The layers whose states it gives, side by side; 0 is the embeddings."""
    depth: int
    """Layers that the encoder has."""
    width: int
    """Numbers per layer."""
    frame: Frame
    """The special tokens that belong around a text."""
    limit: int
    """Tokens that it can read at most; 0 for any number."""

    @property
    def numbers(self) -> int:
        """Per text: those of all layers that are given."""
        return self.width * len(self.layers)

    def save(self, path: Path) -> None:
        """Write the description into the folder of the graph, whose files are complete."""
        digests = {file.name: _digest(file) for file in sorted(path.iterdir()) if file.name != FILE}
        Folder(path).write_json(FILE, {"format": FORMAT, **asdict(self), "files": digests})

    @classmethod
    def load(cls, path: Path) -> Exported:
        """The description in a folder; a StoreError if any file beside it is not as it was written, or was not.

        Whoever reads a graph opens what it finds by name: a pipe of which the description knows nothing would wait.
        """
        about = Folder(path).read_json(FILE)
        if not isinstance(about, dict) or about.pop("format", None) != FORMAT:
            raise StoreError("the description of the exported encoder is not one of this version", path=path / FILE)
        digests = {Path(name).name: digest for name, digest in about.pop("files", {}).items()}
        for name in sorted({*digests, *(file.name for file in path.iterdir())} - {FILE}):
            file = path / name
            if not file.is_file() or _digest(file) != digests.get(name):
                raise StoreError("the exported encoder is damaged", path=file)
        try:
            return from_dict(cls, about)
        except (ConfigError, TypeError) as error:
            raise StoreError(f"the exported encoder's description is damaged ({error})", path=path / FILE) from None


def _digest(file: Path) -> str:
    digest = hashlib.blake2b(digest_size=12)
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
