"""TextReader: an encoder that learns no more, with its tokenizer. Texts in, states out, whoever runs it.

A model folder holds the encoder (`encoder/`, a plain Hugging Face folder) and, if another engine than torch reads, what
was exported for it (`encoder/openvino/`). With that, neither torch nor transformers is needed to predict.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from treetop.runtime import Runtime
from treetop.text.encoder_config import EncoderConfig
from treetop.text.reading.engines import ENGINES
from treetop.text.reading.exported import Exported
from treetop.text.reading.reader import Reader, read_states
from treetop.text.reading.tokenizer import FileTokenizer
from treetop.text.tokens import Tokens, tokenise
from treetop.types import Dense, Texts

if TYPE_CHECKING:
    from treetop.text.encoder import TextEncoder

__all__ = ["FolderReader", "TextReader"]


class TextReader(ABC):
    """The states of texts after some layers of an encoder, of which it has `depth` with `width` numbers each."""

    def __init__(self, config: EncoderConfig, reader: Reader, layers: Sequence[int], depth: int, width: int) -> None:
        self.config, self.reader, self.layers, self.depth, self.width = config, reader, tuple(layers), depth, width

    @abstractmethod
    def tokenize(self, texts: Texts, runtime: Runtime | None = None) -> Tokens:
        """The tokens of the texts."""

    @abstractmethod
    def text_encoder(self) -> TextEncoder:
        """The encoder itself, with torch: to look into it."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the encoder as a Hugging Face folder, and beside it what was exported."""

    def read(self, tokens: Tokens, runtime: Runtime) -> Dense:
        """The states of all texts, layer beside layer: (texts, layers · width)."""
        return read_states(self.reader, tokens, runtime)


class FolderReader(TextReader):
    """What was exported into a folder for an engine other than torch, in the folder of its encoder."""

    def __init__(self, config: EncoderConfig, folder: Path, engine: str, threads: int, *, keeps: bool = False) -> None:
        self.folder, self.threads, self.about = folder, threads, Exported.load(folder / engine)
        self.holds: TemporaryDirectory[str] | None = None  # a temporary folder, which lives as long as its reader
        self._tokenizer = FileTokenizer(folder)
        self._encoder: TextEncoder | None = None
        reader = ENGINES[engine].load()(folder / engine, self.about, threads, keeps=keeps)
        super().__init__(config, reader, self.about.layers, self.about.depth, self.about.width)

    def tokenize(self, texts: Texts, runtime: Runtime | None = None) -> Tokens:
        """The tokens of the texts, by the tokenizer's file."""
        size, chunks = self.config.max_tokens, self.config.chunks
        return tokenise(texts, self._tokenizer, max_tokens=size, chunks=chunks, frame=self.about.frame, runtime=runtime)

    def text_encoder(self) -> TextEncoder:
        """The weights beside what was exported, read once."""
        from treetop.text.encoder import TextEncoder

        if self._encoder is None:
            self._encoder = TextEncoder.load(self.config, self.folder).eval()
        return self._encoder

    def save(self, path: Path) -> None:
        """A copy of the folder."""
        shutil.copytree(self.folder, path, dirs_exist_ok=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as its files: what an engine has compiled cannot be."""
        files = [file for file in sorted(self.folder.rglob("*")) if file.is_file()]
        contents = {file.relative_to(self.folder).as_posix(): file.read_bytes() for file in files}
        return _from_files, (self.config, contents, self.reader.name, self.threads)


def _from_files(config: EncoderConfig, contents: dict[str, bytes], engine: str, threads: int) -> FolderReader:
    holds = TemporaryDirectory(prefix="treetop-reader-")
    for name, content in contents.items():
        file = Path(holds.name) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    reader = FolderReader(config, Path(holds.name), engine, threads)
    reader.holds = holds
    return reader
