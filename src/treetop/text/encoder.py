"""TextEncoder: any Hugging Face encoder as a function from tokens to one state per text and layer.

The state of a text after a layer is that of its pooled token: [CLS] for BERT, ELECTRA, DistilBERT and ModernBERT, <s>
for RoBERTa and MPNet, and the *last* token for XLNet, which also pads on the left. Where it stands is read off the
tokenizer, so no family needs code of its own. `pooling="mean"` averages all tokens instead: sentence encoders were
trained with it and say so in a file, and from their mean a few epochs get further than from a token that they were not
trained to use. `pooling="pooler"` takes the dense + tanh that BERT puts on top (what X- and XR-Transformer feed their
heads).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from treetop.data.sampling import some_of
from treetop.errors import ConfigError, MissingExtraError, StoreError
from treetop.runtime import Runtime, is_leader
from treetop.text.encoder_config import EncoderConfig
from treetop.text.states import FrozenStates
from treetop.text.tokens import Frame, Padded, Tokens, batches_by_length, count_tokens, tokenise, unknown_share
from treetop.types import Dense, Texts

try:
    import torch
    import transformers
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtraError(error.name or "torch", "neural") from None

from treetop.text.devices import must_wait
from treetop.text.frozen import lowest, run_lowest, skipping
from treetop.text.pooling import trained_pooling, write_mean_pooling
from treetop.text.precision import autocast
from treetop.text.pretrained import (
    check_frame,
    check_whole,
    find,
    opening,
    quiet,
    read_config,
    read_model,
    read_tokenizer,
    writing,
)
from treetop.text.threads import threads

__all__ = [
    "EncoderConfig",
    "EncoderSize",
    "TextEncoder",
    "check_reads",
    "limits_of",
    "mean_tokens",
    "read_all",
    "size_of",
]

DROPOUTS = ("hidden_dropout_prob", "dropout", "embedding_dropout", "mlp_dropout", "classifier_dropout")
_PLAIN_MASKS = ("bert", "roberta", "electra", "distilbert")  # of padding alone, in every layer
ATTENTION_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout")
MOSTLY_UNKNOWN = 0.4
_SAMPLE = 256  # texts that are looked at before a training


@dataclass(frozen=True, slots=True)
class EncoderSize:
    """What an encoder will take in memory, known from its description alone."""

    parameters: int
    width: int
    layers: int
    attention_heads: int


def size_of(config: EncoderConfig) -> EncoderSize:
    """The size of an encoder, without reading its weights."""
    source = find(config.name)
    with opening(config.name, source):
        about = read_config(source)
        with torch.device("meta"):
            model = transformers.AutoModel.from_config(about, trust_remote_code=False)  # type: ignore[no-untyped-call]
    parameters = sum(p.numel() for p in model.parameters())
    return EncoderSize(parameters, about.hidden_size, about.num_hidden_layers, about.num_attention_heads)


def limits_of(name: str) -> tuple[int, int]:
    """Tokens of the longest text that an encoder has positions for, 0 if it reads any, and its layers."""
    source = find(name)
    with opening(name, source):
        about = read_config(source)
        with torch.device("meta"):
            model = transformers.AutoModel.from_config(about, trust_remote_code=False)  # type: ignore[no-untyped-call]
    return _most_tokens(model) or 0, about.num_hidden_layers


def check_reads(config: EncoderConfig, texts: Texts) -> None:
    """Refuse texts that an encoder cannot read, as those in a script that it has never seen; by a sample of them."""
    source = find(config.name)
    with opening(config.name, source):
        tokenizer = read_tokenizer(source)
    share = unknown_share(some_of(texts, _SAMPLE), tokenizer)
    if share > MOSTLY_UNKNOWN:
        raise ConfigError(
            f"{share:.0%} of the texts' tokens are unknown to the encoder '{config.name}': it has not learned their "
            "language or script; check the text column, or choose an encoder for it, for example a multilingual one"
        )


def mean_tokens(config: EncoderConfig, texts: Texts) -> float:
    """Tokens that the encoder will read of a text on average, by a sample of them."""
    source = find(config.name)
    with opening(config.name, source):
        tokenizer = read_tokenizer(source)
    sample = some_of(texts, _SAMPLE)
    return count_tokens(sample, tokenizer, most=config.max_tokens * config.chunks) / max(1, len(sample))


class TextEncoder(nn.Module):
    """A pretrained encoder with its tokenizer. Layer 0 is the embeddings, layer `layers` (or -1) the last."""

    def __init__(self, config: EncoderConfig, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.config, self.model, self.tokenizer = config, model, tokenizer
        self.width: int = model.config.hidden_size
        self.layers: int = model.config.num_hidden_layers
        self._pooled_last = Frame.of(tokenizer).pooled_last
        self.frozen_layers = config.frozen(self.layers)
        self._frozen = lowest(model, self.frozen_layers)
        for module in self._frozen:
            module.requires_grad_(False)
        self._beside: tuple[Any, ...] | None = None  # what a layer returns beside its states; None if only those
        if config.checkpointing:
            if not model.supports_gradient_checkpointing:
                kind = model.config.model_type
                raise ConfigError(f"checkpointing does not work with a {kind} encoder; set it to false")
            model.gradient_checkpointing_enable({"use_reentrant": False})

    @classmethod
    def load(cls, config: EncoderConfig, folder: str | PathLike[str] | None = None) -> TextEncoder:
        """The encoder that the configuration names, or the one saved in `folder` under the same configuration."""
        if folder is not None and not Path(folder).is_dir():
            raise StoreError("the folder of the encoder is missing; this is not a complete model", path=Path(folder))
        name = config.name if folder is None else str(folder)
        source = find(name)
        with opening(name, source, of_model=folder is not None):
            about = read_config(source)
            _set_dropout(about, DROPOUTS, config.dropout)
            _set_dropout(about, ATTENTION_DROPOUTS, config.attention_dropout)
            model, loading = read_model(source, about)
            tokenizer = read_tokenizer(source)
            check_frame(Frame.of(tokenizer), model)
            pooling = trained_pooling(source) if config.pooling == "auto" else config.pooling
            if folder is not None:
                check_whole(loading, pooler=pooling == "pooler")
        if pooling == "pooler" and getattr(model, "pooler", None) is None:
            pooling = "token"  # XLNet and others have none
        if pooling != "pooler" and any(name.startswith("pooler.") for name in loading["missing_keys"]):
            model.pooler = None  # the files have none, and random weights that nothing reads are not worth saving
        return cls(replace(config, pooling=pooling), model.float(), tokenizer)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a plain Hugging Face folder: `AutoModel.from_pretrained` and any other tool can load it.

        If the encoder pools by the mean, the folder says so the way sentence encoders do.
        """
        inner = getattr(self.tokenizer, "backend_tokenizer", None)
        if inner is not None:  # else the file would tell how the last text was cut and padded
            inner.no_truncation()
            inner.no_padding()
        with quiet(), writing():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        if self.config.pooling == "mean":
            write_mean_pooling(folder, self.width)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as its description and weights: what a first use adds to the network cannot be."""
        return _rebuilt, (self.config, self.model.config, self.model.state_dict(), self.tokenizer, self.training)

    @property
    def limit(self) -> int:
        """Tokens of the longest text that it has positions for; 0 if it reads any."""
        return _most_tokens(self.model) or 0

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device  # type: ignore[no-any-return]

    def freeze(self) -> None:
        """From here on none of it learns."""
        self._frozen = [self.model]
        self.requires_grad_(False)

    def train(self, mode: bool = True) -> TextEncoder:
        """Switch dropout on or off; in frozen layers it stays off, so that their output never changes."""
        super().train(mode)
        for module in self._frozen:
            module.eval()
        return self

    def tokenize(
        self, texts: Texts, cache: str | PathLike[str] | None = None, runtime: Runtime | None = None
    ) -> Tokens:
        """The tokens of the texts; with `cache`, stored there and found again."""
        size, limit = self.config.max_tokens, self.limit
        if limit and limit < size:
            raise ConfigError(f"max_tokens is {size}, but {self.config.name} reads at most {limit}; use chunks")
        chunks = self.config.chunks
        return tokenise(texts, self.tokenizer, max_tokens=size, chunks=chunks, cache=cache, runtime=runtime)

    def forward(self, batch: Padded, layers: Sequence[int] = (-1,)) -> Tensor:
        """The state of each text after each of the given layers: (layers, texts, width)."""
        return _join_pieces(self.pieces(batch, layers), batch)

    def pieces(self, batch: Padded, layers: Sequence[int] = (-1,)) -> Tensor:
        """The same of each piece, before those of one text are averaged."""
        with self._resuming(batch, min(layer % (self.layers + 1) for layer in layers)):
            return self.pooled(self._inputs(batch), layers)

    def pooled(self, inputs: Mapping[str, Tensor], layers: Sequence[int]) -> Tensor:
        """The state of each piece after each of the given layers, from the tensors that the model takes."""
        wanted = [layer % (self.layers + 1) for layer in layers]
        given = {**inputs, "attention_mask": self._as_it_is(inputs["attention_mask"])}
        output = self.model(**given, output_hidden_states=any(layer != self.layers for layer in wanted))
        mask, last = inputs["attention_mask"], output.last_hidden_state
        states = [last if layer == self.layers else output.hidden_states[layer] for layer in wanted]
        pooled = [self._pool(state, mask) for state in states]
        if self.config.pooling == "pooler":
            pooled = [output.pooler_output if w == self.layers else p for w, p in zip(wanted, pooled, strict=True)]
        return torch.stack(pooled)

    def _as_it_is(self, mask: Tensor) -> Tensor:
        """The mask in the form that is taken as it is: an accelerator is not asked whether it masks anything."""
        if must_wait(mask) and self.model.config.model_type in _PLAIN_MASKS:
            return mask[:, None, None, :].bool()
        return mask

    def _inputs(self, batch: Padded) -> dict[str, Tensor]:
        names = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "types"}
        tensors = {name: self._tensor(batch, part) for name, part in names.items()}
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}

    def _tensor(self, batch: Padded, part: str) -> Tensor | None:
        """A part of a batch on the device of the encoder, where it may be already."""
        if batch.sent is not None:
            return batch.sent.get(part)
        array = getattr(batch, part)
        return None if array is None else torch.from_numpy(array).to(self.device)

    def _resuming(self, batch: Padded, lowest_wanted: int) -> AbstractContextManager[None]:
        """A block in which the frozen layers are skipped, if what they return is known and none below is wanted."""
        if batch.states is None or lowest_wanted < self.frozen_layers:
            return nullcontext()
        states: Any = self._tensor(batch, "states")
        return skipping(self.model, self.frozen_layers, (states, *self._beside) if self._beside is not None else states)

    @torch.no_grad()
    def keep_frozen(
        self,
        tokens: Tokens,
        folder: str | PathLike[str] | None,
        runtime: Runtime,
        *,
        lowest_wanted: int = -1,
        reader: Callable[[], Callable[[Padded], Dense] | None] | None = None,
    ) -> Tokens:
        """The same tokens, from here on with what the frozen layers make of them, if the configuration says so.

        `folder` is where the file is, and stays until a run that is resumed has ended; `lowest_wanted` is the lowest
        layer whose states `forward` will be asked for. `reader` says who else could read, if they are not there yet.
        """
        if not self.config.keep_frozen or not self.frozen_layers:
            return tokens
        needed, frozen = lowest_wanted % (self.layers + 1), self.frozen_layers
        if needed < frozen:
            problem = f"keep_frozen with {frozen} frozen layers, but the state after layer {needed} is needed"
            raise ConfigError(f"{problem}; freeze fewer, let the method use only later layers, or set it to false")
        name = self._name_of_states(tokens) if folder is not None and is_leader() else ""
        kept = FrozenStates(np.maximum(tokens.lengths(), 1), self.width, folder, name)
        self.eval()
        with threads(runtime), autocast(runtime):  # one text tells what a layer returns beside its states
            first = tokens.pad(np.arange(min(1, len(tokens))))
            if self._run_frozen(first).shape[:2] != first.ids.shape:
                kind = self.model.config.model_type
                raise ConfigError(f"keep_frozen does not work with a {kind} encoder; set it to false")
            read = None if kept.complete or reader is None else reader()
            with runtime.bar("frozen layers", len(tokens)) as advance:
                for rows in () if kept.complete else batches_by_length(tokens):
                    batch = tokens.pad(rows)
                    states = self._run_frozen(batch).float().cpu().numpy() if read is None else read(batch)
                    kept.put(rows, batch.mask, states)
                    advance(len(rows))
        kept.finish()
        tokens.states = kept
        return tokens

    def _run_frozen(self, batch: Padded) -> Tensor:
        found = run_lowest(self.model, self.frozen_layers, self._inputs(batch))
        states, self._beside = (found[0], found[1:]) if isinstance(found, tuple) else (found, None)
        return states

    def _name_of_states(self, tokens: Tokens) -> str:
        """A word for the tokens and for the layers that read them: others have another."""
        digest = hashlib.blake2b(f"{self.frozen_layers} {tokens.frame}".encode(), digest_size=12)
        weights = [p.detach().cpu().numpy() for module in self._frozen for p in module.parameters()]
        for array in (tokens.ptr, tokens.ids, *weights):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def _pool(self, state: Tensor, mask: Tensor) -> Tensor:
        """One vector per piece from (pieces, tokens, width)."""
        if self.config.pooling == "mean":
            weight = mask[:, :, None].to(state.dtype)
            return (state * weight).sum(1) / weight.sum(1)
        place = self._pooled_place(mask)[:, None, None].expand(-1, -1, state.shape[2])
        return state.gather(1, place)[:, 0]

    def _pooled_place(self, mask: Tensor) -> Tensor:
        """Where the pooled token stands: the first or the last real token, whichever side the padding is on."""
        if self._pooled_last:
            return mask.shape[1] - 1 - mask.flip(1).argmax(1)
        return mask.argmax(1)

    @torch.no_grad()
    def pooled_attention(self, batch: Padded) -> tuple[Tensor, Tensor]:
        """Attention of the pooled token of each piece: (layers, pieces, heads, tokens); and where that token stands."""
        tensors = self._inputs(batch)
        place = self._pooled_place(tensors["attention_mask"])
        pieces, was_training = torch.arange(len(place), device=place.device), self.training
        self.eval()
        with _shown_attention(self.model):
            layers = self.model(**tensors, output_attentions=True).attentions
        self.train(was_training)
        return torch.stack([layer[pieces, :, place] for layer in layers]), place

    def digest(self) -> str:
        """A word for the weights and what is made of them: it changes when the encoder learns something."""
        digest = hashlib.blake2b(repr((self.config.pooling, self._pooled_last)).encode(), digest_size=12)
        for name, weight in self.model.state_dict().items():
            digest.update(name.encode() + np.ascontiguousarray(weight.detach().cpu().numpy()).tobytes())
        return digest.hexdigest()

    def embed(self, tokens: Tokens, runtime: Runtime, *, layer: int = -1) -> Dense:
        """The state of every text after one layer, as an array: (texts, width)."""
        return read_all(self, lambda batch: self(batch, (layer,))[0], self.width, tokens, runtime)


@torch.no_grad()
def read_all(
    module: nn.Module, read: Callable[[Padded], Tensor], width: int, tokens: Tokens, runtime: Runtime
) -> Dense:
    """What a module without dropout makes of every text: (texts, width). `read` does so for a batch."""
    result = np.empty((len(tokens), width), np.float32)
    was_training = module.training
    module.eval()
    with runtime.bar("embed", len(tokens)) as advance, threads(runtime), autocast(runtime):
        for rows in batches_by_length(tokens):
            result[rows] = read(tokens.pad(rows)).float().cpu().numpy()
            advance(len(rows))
    module.train(was_training)
    return result


def _most_tokens(model: Any) -> int | None:
    """The longest text that an encoder has positions for; RoBERTa and MPNet count theirs from behind the padding's."""
    limit = getattr(model.config, "max_position_embeddings", None)
    if not limit or limit < 0:
        return None
    tables = [module for name, module in model.named_modules() if name.endswith("position_embeddings")]
    before = [table.padding_idx + 1 for table in tables if getattr(table, "padding_idx", None) is not None]
    return int(limit) - max(before, default=0)


def _set_dropout(about: Any, names: Sequence[str], value: float | None) -> None:
    """Overrule what the description of an encoder says; a family knows only some of the names."""
    for name in names:
        if value is not None and isinstance(getattr(about, name, None), float | int):
            setattr(about, name, value)


@contextmanager
def _shown_attention(model: Any) -> Iterator[None]:
    """With the one implementation of attention that can tell what it attended to."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _join_pieces(pooled: Tensor, batch: Padded) -> Tensor:
    """The mean over the pieces of each text."""
    if batch.owner is None:
        return pooled
    sent = None if batch.sent is None else batch.sent["owner"]
    owner = torch.from_numpy(batch.owner).to(pooled.device) if sent is None else sent
    total = pooled.new_zeros(pooled.shape[0], batch.texts, pooled.shape[2]).index_add(1, owner, pooled)
    pieces = torch.from_numpy(np.bincount(batch.owner, minlength=batch.texts)).to(pooled.device, non_blocking=True)
    return total / pieces[None, :, None]


def _rebuilt(config: EncoderConfig, about: Any, weights: dict[str, Any], tokenizer: Any, training: bool) -> TextEncoder:
    with torch.random.fork_rng(devices=[]):  # the weights that a new network begins with are drawn, and replaced
        model = transformers.AutoModel.from_config(about)  # type: ignore[no-untyped-call]
    if not any(name.startswith("pooler.") for name in weights):
        model.pooler = None
    model.load_state_dict(weights)
    return TextEncoder(config, model, tokenizer).train(training).to(next(iter(weights.values())).device)
