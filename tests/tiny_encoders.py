"""Tiny encoders of several families, with random weights and a WordPiece tokenizer, made in code: no network."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

torch.set_num_threads(1)  # more threads than that only wait for each other on networks of this size

CLASSIC = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")
ROBERTA = ("<s>", "</s>", "<pad>", "<unk>")
XLNET = ("<cls>", "<sep>", "<pad>", "<unk>")

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
ENDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def tokenizer(words: Iterable[str], specials: tuple[str, str, str, str], *, xlnet: bool = False) -> Any:
    """A WordPiece tokenizer over the given words and all letters and digits."""
    cls, sep, pad, unk = specials
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)] + list("0123456789")
    pieces = [pad, cls, sep, unk, *letters, *("##" + c for c in letters)]
    pieces += sorted({piece for word in words for piece in re.split(r"\W+", word.lower()) if piece} - set(letters))
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    core = Tokenizer(models.WordPiece(vocabulary, unk_token=unk))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    template = f"$A:0 {sep}:0 {cls}:2" if xlnet else f"{cls}:0 $A:0 {sep}:0"
    known = [(cls, vocabulary[cls]), (sep, vocabulary[sep])]
    core.post_processor = processors.TemplateProcessing(single=template, special_tokens=known)
    names: dict[str, Any] = {"cls_token": cls, "sep_token": sep, "pad_token": pad, "unk_token": unk}
    side = "left" if xlnet else "right"
    made: Any = transformers.PreTrainedTokenizerFast
    return made(tokenizer_object=core, padding_side=side, **names)


def model(family: str, vocabulary: int, layers: int, width: int = 32) -> Any:
    """An encoder of the family with random weights and no dropout."""
    off: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if family == "bert":
        sizes = SIZES | {"hidden_size": width}
        config: Any = transformers.BertConfig(vocab_size=vocabulary, num_hidden_layers=layers, **sizes, **off)
    elif family == "roberta":
        config = transformers.RobertaConfig(
            vocab_size=vocabulary,
            num_hidden_layers=layers,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            **SIZES,
            **off,
        )
    elif family == "mpnet":
        config = transformers.MPNetConfig(
            vocab_size=vocabulary,
            num_hidden_layers=layers,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            **SIZES,
            **off,
        )
    elif family == "electra":
        config = transformers.ElectraConfig(
            vocab_size=vocabulary, num_hidden_layers=layers, embedding_size=16, **SIZES, **off
        )
    elif family == "distilbert":
        config = transformers.DistilBertConfig(
            vocab_size=vocabulary, n_layers=layers, dim=32, n_heads=2, hidden_dim=64, max_position_embeddings=64,
            dropout=0.0, attention_dropout=0.0,
        )  # fmt: skip
    elif family == "modernbert":
        config = transformers.ModernBertConfig(
            vocab_size=vocabulary, num_hidden_layers=layers, cls_token_id=1, sep_token_id=2, **ENDS, **SIZES
        )  # fmt: skip
    else:
        config = transformers.XLNetConfig(
            vocab_size=vocabulary, n_layer=layers, d_model=32, n_head=2, d_inner=64, dropout=0.0, pad_token_id=0,
        )  # fmt: skip
    torch.manual_seed(0)
    return transformers.AutoModel.from_config(config)  # type: ignore[no-untyped-call]


def make_encoder(
    folder: Path, words: Iterable[str] = (), *, family: str = "bert", layers: int = 3, width: int = 32
) -> Path:
    """A Hugging Face folder with a tiny encoder of the family; `width` is for BERT."""
    specials = {"roberta": ROBERTA, "mpnet": ROBERTA, "xlnet": XLNET}.get(family, CLASSIC)
    pieces = tokenizer(words, specials, xlnet=family == "xlnet")
    model(family, len(pieces), layers, width).save_pretrained(folder)
    pieces.save_pretrained(folder)
    return folder
