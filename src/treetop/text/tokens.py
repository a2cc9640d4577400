"""Tokenised texts: written once, memory-mapped, and cut, framed and padded batch by batch.

What is stored is the content of each text, without special tokens: flat ids and a pointer per text. The special tokens
(the frame) are put around it when a batch is made, so one stored corpus serves every length limit, and a long text can
be split into chunks that each get a frame of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.config import from_dict
from treetop.errors import ConfigError, StoreError
from treetop.runtime import Runtime, is_leader
from treetop.store import Folder
from treetop.text.states import FrozenStates, ranges
from treetop.types import Dense, Ids, Texts

__all__ = ["Frame", "Padded", "Tokens", "batches_by_length", "count_tokens", "tokenise", "unknown_share"]

FORMAT = 1
BATCH = 2048
CHARACTERS_PER_TOKEN = 12
"""A long text is first cut to this many characters per wanted token; if too few tokens result, it is redone whole."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The special tokens around a text, and where the pooled token stands."""

    prefix: tuple[int, ...]
    """Ids before the content, for example [CLS]."""
    suffix: tuple[int, ...]
    """Ids after the content, for example [SEP]; XLNet's pooled token is the last of them."""
    types: tuple[int, int, int]
    """Segment ids of the prefix, of the content, and of the last suffix token."""
    pad: int
    """The id of padding."""
    pad_left: bool
    """Whether padding comes before the text."""
    pooled_last: bool
    """Whether the token that stands for the text is the last one, not the first."""

    @classmethod
    def of(cls, tokenizer: Any) -> Frame:
        """The frame that a Hugging Face tokenizer puts around a text."""
        framed = tokenizer("a", return_token_type_ids=True)
        content, ids = tokenizer("a", add_special_tokens=False)["input_ids"], framed["input_ids"]
        start = next((i for i in range(len(ids)) if ids[i : i + len(content)] == content), 0)
        end = start + len(content)
        types = framed.get("token_type_ids") or [0] * len(ids)
        pad = tokenizer.pad_token_id
        return cls(
            prefix=tuple(ids[:start]),
            suffix=tuple(ids[end:]),
            types=(types[0], types[start], types[-1]),
            pad=0 if pad is None else pad,
            pad_left=tokenizer.padding_side == "left",
            pooled_last=bool(ids[end:]) and ids[-1] == tokenizer.cls_token_id,
        )

    @property
    def size(self) -> int:
        """Special tokens per text."""
        return len(self.prefix) + len(self.suffix)


@dataclass(frozen=True, slots=True)
class Padded:
    """A batch ready for an encoder: (pieces, tokens) arrays, and the text (row of the batch) each piece belongs to."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    types: NDArray[np.int64] | None
    """Segment ids, if the encoder's differ from zero anywhere."""
    owner: NDArray[np.int64] | None
    """The text of each piece; None if every text is one piece."""
    texts: int
    states: Dense | None = None
    """What the frozen layers make of the tokens, where that is known: (pieces, tokens, width)."""
    sent: Mapping[str, Any] | None = None
    """These arrays as tensors by their names, where they were sent ahead to the device that reads them."""


class Tokens:
    """The token ids of a corpus. `pad(rows)` makes a batch of some of its texts."""

    def __init__(
        self, ids: NDArray[Any], ptr: NDArray[np.int64], frame: Frame, *, max_tokens: int, chunks: int = 1
    ) -> None:
        if max_tokens <= frame.size:
            raise ConfigError(f"max_tokens is {max_tokens}; the special tokens alone need {frame.size}")
        self.ids, self.ptr, self.frame, self.max_tokens, self.chunks = ids, ptr, frame, max_tokens, chunks
        self.states: FrozenStates | None = None  # of texts in their whole length; `TextEncoder.keep_frozen` fills it

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def lengths(self, limit: int | None = None) -> Ids:
        """Tokens of each text's longest piece, with its frame, under the limit."""
        room = self._room(limit)
        return (np.minimum(np.diff(self.ptr), room) + self.frame.size).astype(np.int32)

    def pieces(self) -> Ids:
        """Pieces of each text."""
        return _count_pieces(np.diff(self.ptr), self._room(None), self.chunks).astype(np.int32)

    def take(self, rows: NDArray[Any] | slice) -> Tokens:
        """The given texts only; their ids are copied."""
        rows = np.arange(len(self))[rows]
        size = self.ptr[rows + 1] - self.ptr[rows]
        ptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        ids = self.ids[ranges(self.ptr[rows], size)]
        return Tokens(ids, ptr, self.frame, max_tokens=self.max_tokens, chunks=self.chunks)

    def pad(self, rows: NDArray[Any], limit: int | None = None) -> Padded:
        """The given texts, cut to `limit` tokens (frame included), framed and padded to the longest among them."""
        room, frame = self._room(limit), self.frame
        start, size = self.ptr[rows], self.ptr[np.asarray(rows) + 1] - self.ptr[rows]
        owner = None
        if self.chunks > 1:
            start, size, owner = _pieces(start, size, room, self.chunks)
        size = np.minimum(size, room)
        whole = size + frame.size
        width = max(1, int(whole.max(initial=0)))
        ids = np.full((len(size), width), frame.pad, np.int64)
        first = width - whole if frame.pad_left else np.zeros_like(size)
        piece = np.repeat(np.arange(len(size)), size)
        ids[piece, ranges(first + len(frame.prefix), size)] = self.ids[ranges(start, size)]
        for place, token in enumerate(frame.prefix):
            ids[np.arange(len(size)), first + place] = token
        for place, token in enumerate(frame.suffix):
            ids[np.arange(len(size)), first + len(frame.prefix) + size + place] = token
        column = np.arange(width)
        mask = ((column >= first[:, None]) & (column < np.maximum(first + whole, 1)[:, None])).astype(np.int64)
        states = None if self.states is None else self.states.pad(rows, mask, len(frame.suffix))
        return Padded(ids, mask, self._types(ids, first, whole), owner, len(rows), states)

    def _types(self, ids: NDArray[Any], first: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.int64] | None:
        if not any(self.frame.types):
            return None
        types = np.full(ids.shape, self.frame.types[1], np.int64)
        pieces = np.arange(len(ids))
        if self.frame.prefix:
            types[pieces, first] = self.frame.types[0]
        types[pieces, np.maximum(first + whole - 1, 0)] = self.frame.types[2]
        return types

    def _room(self, limit: int | None) -> int:
        """Content tokens per piece."""
        return max(1, min(limit or self.max_tokens, self.max_tokens) - self.frame.size)

    def save(self, folder: Folder) -> None:
        """Write the ids and pointers to an open folder."""
        folder.write_tensors("tokens.safetensors", {"ids": np.asarray(self.ids), "ptr": self.ptr})
        folder.write_json("tokens.json", _describe(self.frame, self.max_tokens, self.chunks))

    @classmethod
    def load(cls, folder: Folder) -> Tokens:
        """Tokens written by `save` or `tokenise`, memory-mapped."""
        about = folder.read_json("tokens.json")
        with folder.reading("tokens.json"):
            if about["format"] != FORMAT:
                raise StoreError(f"tokens of format {about['format']}; tokenise again", path=folder.path)
            frame, limits = from_dict(Frame, about["frame"]), {key: int(about[key]) for key in ("max_tokens", "chunks")}
            if not folder.has("ids.bin"):
                arrays = folder.read_tensors("tokens.safetensors")
                return cls(arrays["ids"], arrays["ptr"], frame, **limits)
            ptr, kind = folder.read_tensors("ptr.safetensors")["ptr"], np.dtype(about["dtype"])
        with folder.reading("ids.bin") as path:
            ids = np.memmap(path, dtype=kind, mode="r")
            if len(ids) != max(1, int(ptr[-1])):
                raise StoreError(f"{len(ids):,} tokens where {int(ptr[-1]):,} were written", path=path)
        return cls(ids, ptr, frame, **limits)


def batches_by_length(tokens: Tokens, budget: int = 8192) -> Iterator[NDArray[np.int64]]:
    """Rows of all texts, longest first, in batches of at most `budget` padded tokens: the order for inference."""
    length = tokens.lengths() * tokens.pieces()
    order = np.argsort(-length, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // int(length[order[start]]))
        yield order[start : start + size]
        start += size


def tokenise(
    texts: Texts,
    tokenizer: Any,
    *,
    max_tokens: int,
    chunks: int = 1,
    frame: Frame | None = None,
    cache: str | PathLike[str] | None = None,
    runtime: Runtime | None = None,
) -> Tokens:
    """The tokens of the texts: at most `chunks` pieces of `max_tokens` each, special tokens included.

    With `cache` the result lives in a folder below it, named by what it was made from, and is found there next time.
    Of several processes only the leading one keeps it. A `frame` that is known need not be asked for.
    """
    runtime = runtime or Runtime()
    frame = frame or Frame.of(tokenizer)
    content = chunks * max(1, max_tokens - frame.size)
    kind = np.dtype(np.uint16 if len(tokenizer) <= 2**16 else np.int32)
    if cache is None or not is_leader():
        parts = [np.asarray(row, kind) for row in _contents(texts, tokenizer, content, runtime)]
        ptr = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        ids = np.concatenate(parts) if parts else np.empty(0, kind)
        return Tokens(ids, ptr, frame, max_tokens=max_tokens, chunks=chunks)
    target = Path(cache) / _fingerprint(texts, tokenizer, max_tokens, chunks)
    if not target.exists():
        with Folder.create(target) as folder:
            sizes = [0]
            with (folder.path / "ids.bin").open("wb") as file:
                for row in _contents(texts, tokenizer, content, runtime):
                    sizes.append(len(row))
                    file.write(np.asarray(row, kind).tobytes())
                if sum(sizes) == 0:
                    file.write(np.zeros(1, kind).tobytes())  # an empty file cannot be mapped
            folder.write_tensors("ptr.safetensors", {"ptr": np.cumsum(sizes, dtype=np.int64)})
            folder.write_json("tokens.json", {**_describe(frame, max_tokens, chunks), "dtype": kind.name})
    try:
        tokens = Tokens.load(Folder.open(target))
        if tokens.ids.max() > max(tokenizer.get_vocab().values()):
            raise StoreError("the tokenizer has no such tokens", path=target)
        return tokens
    except StoreError as error:
        raise StoreError(
            f"kept tokens are damaged ({error}); delete the folder to tokenise again", path=target
        ) from error


def unknown_share(texts: Texts, tokenizer: Any) -> float:
    """The share of the tokens of some texts that the tokenizer has no entry for, from 0 to 1."""
    ids = [number for row in _encode(tokenizer, list(texts), BATCH) for number in row]
    return ids.count(tokenizer.unk_token_id) / len(ids) if ids and tokenizer.unk_token_id is not None else 0.0


def count_tokens(texts: Texts, tokenizer: Any, most: int) -> int:
    """Tokens of some texts together, those that mark their ends included, each text cut to `most`."""
    ends = tokenizer.num_special_tokens_to_add()
    return sum(min(most, len(row) + ends) for row in _encode(tokenizer, list(texts), most))


def _contents(texts: Texts, tokenizer: Any, content: int, runtime: Runtime) -> Iterator[list[int]]:
    """The ids of each text, without special tokens, cut to `content`."""
    enough = content * CHARACTERS_PER_TOKEN
    with runtime.bar("tokenise", len(texts)) as advance:
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            rows = _encode(tokenizer, [_whole_words(text, enough) for text in batch], content)
            short = [i for i, row in enumerate(rows) if len(row) < content and len(batch[i]) > enough]
            for i, row in zip(short, _encode(tokenizer, [batch[i] for i in short], content), strict=True):
                rows[i] = row
            yield from rows
            advance(len(batch))


def _whole_words(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    return (text[:characters].rsplit(None, 1) or [""])[0]  # all white space so far


def _encode(tokenizer: Any, texts: list[str], content: int) -> list[list[int]]:
    if not texts:
        return []
    options = {"add_special_tokens": False, "truncation": True, "max_length": content, "return_attention_mask": False}
    rows: list[list[int]] = tokenizer(texts, **options)["input_ids"]
    return rows


def _fingerprint(texts: Texts, tokenizer: Any, max_tokens: int, chunks: int) -> str:
    digest = hashlib.blake2b(f"{FORMAT} {max_tokens} {chunks}".encode(), digest_size=12)
    vocabulary = sorted(tokenizer.get_vocab().items())
    digest.update(repr((type(tokenizer).__name__, vocabulary, Frame.of(tokenizer))).encode())
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return f"tokens-{digest.hexdigest()}"


def _describe(frame: Frame, max_tokens: int, chunks: int) -> dict[str, Any]:
    return {"format": FORMAT, "frame": asdict(frame), "max_tokens": max_tokens, "chunks": chunks}


def _count_pieces(size: NDArray[Any], room: int, chunks: int) -> NDArray[Any]:
    return np.asarray(np.clip(-(-size // room), 1, chunks))


def _pieces(
    start: NDArray[Any], size: NDArray[Any], room: int, chunks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Split texts longer than `room` into at most `chunks` pieces: start, size and text of each piece."""
    count = _count_pieces(size, room, chunks)
    owner = np.repeat(np.arange(len(size)), count)
    number = ranges(np.zeros_like(count), count)
    return start[owner] + number * room, np.clip(size[owner] - number * room, 0, room), owner
