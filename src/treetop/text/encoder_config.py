"""EncoderConfig: which encoder, who runs it and what of it learns; apart from the encoder, which needs torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treetop.errors import ConfigError

__all__ = ["EncoderConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderConfig:
    """Which encoder, how much text it reads, and which part of it learns."""

    name: str = "minilm"
    """A folder, a name on the Hugging Face hub, or the short name of an encoder that comes in a package."""
    max_tokens: int = 128
    """Tokens read per text (or per chunk), special tokens included."""
    chunks: int = 1
    """Pieces of `max_tokens` that a long text is read in; their states are averaged."""
    pooling: Literal["auto", "token", "mean", "pooler"] = "auto"
    """What stands for the text: the pooled token, the mean of all tokens, or BERT's pooler (last layer only; encoders
    without one, as XLNet, give their pooled token).

    "auto" is the mean for encoders that say they were trained with it, as sentence encoders do, else the pooled token.
    """
    freeze: int = 0
    """Lowest layers that keep their weights, the token embeddings included; 0 trains everything, -2 the last two layers
    of however many there are."""
    keep_frozen: bool = False
    """Keep what the frozen layers make of the training texts in a temporary file, so that they run once, not in every
    epoch; 2 · width bytes per token."""
    checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a third more time."""
    dropout: float | None = None
    """Dropout inside the encoder while training; None keeps the encoder's own."""
    attention_dropout: float | None = 0.0
    """The same on attention weights. Without it torch uses a fused kernel: a quarter faster at 128 tokens."""

    reader: Literal["auto", "torch", "openvino", "onnx"] = "auto"
    """Who runs the encoder where nothing learns, and in prediction: OpenVINO or ONNX Runtime, several times as fast as
    torch on a CPU, or torch. "auto" is the fastest that is installed, safe on this processor, and agrees with torch."""
    reader_precision: Literal["int8", "float32", "bfloat16"] = "int8"
    """Numbers that OpenVINO and ONNX Runtime compute with; bfloat16 is OpenVINO's alone."""

    def __post_init__(self) -> None:
        for name, least in (("max_tokens", 4), ("chunks", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        for name in ("dropout", "attention_dropout"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise ConfigError(f"{name} is {value}; it must be between 0 and 1")
        if self.keep_frozen and (self.freeze == 0 or self.chunks > 1):
            raise ConfigError(
                f"keep_frozen with freeze={self.freeze} and chunks={self.chunks}; it needs frozen layers and one chunk"
            )
        if self.reader == "onnx" and self.reader_precision == "bfloat16":
            raise ConfigError("reader is 'onnx', which cannot compute in bfloat16; choose int8 or float32")
        if not self.name:
            raise ConfigError("the encoder has no name; give a folder, a hub name, or 'minilm'")

    def frozen(self, layers: int) -> int:
        """How many layers of an encoder that has so many keep their weights."""
        if self.freeze > layers:
            raise ConfigError(f"freeze is {self.freeze}, but {self.name} has {layers} layers")
        return self.freeze if self.freeze >= 0 else max(0, layers + self.freeze)
