"""The tokenizer of a saved encoder by its file alone: the library `tokenizers`, without transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treetop.errors import MissingExtraError, StoreError

__all__ = ["FileTokenizer"]

FILE = "tokenizer.json"


class FileTokenizer:
    """What `tokenise` needs of a tokenizer."""

    def __init__(self, folder: Path) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("tokenizers", "predict") from None
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / FILE))
        except Exception as error:  # the library raises nothing more precise
            raise StoreError(f"the tokenizer cannot be loaded ({error})", path=folder / FILE) from error
        self._tokenizer.no_padding()
        self._content = 0

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def __call__(self, texts: list[str], *, max_length: int, **_options: Any) -> dict[str, list[list[int]]]:
        """The ids of each text, without special tokens, cut to a length."""
        if max_length != self._content:
            self._tokenizer.enable_truncation(max_length)
            self._content = max_length
        rows = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return {"input_ids": [row.ids for row in rows]}
