"""What sentence encoders say about themselves: the file `1_Pooling/config.json` beside their weights.

It is a convention of the package sentence-transformers, which is not needed to read or write it.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import transformers

__all__ = ["trained_pooling", "write_mean_pooling"]

FILE, MEAN = "1_Pooling/config.json", "pooling_mode_mean_tokens"


def trained_pooling(source: str) -> Literal["token", "mean"]:
    """The pooling that the encoder in a folder or on the hub was trained with; the token's if it does not say."""
    hub: Any = transformers.utils.hub
    missing = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
    found = hub.cached_file(source, FILE, **missing)
    about = json.loads(Path(found).read_text(encoding="utf-8")) if found else {}
    return "mean" if about.get(MEAN) or about.get("pooling_mode") == "mean" else "token"


def write_mean_pooling(folder: str | PathLike[str], width: int) -> None:
    """Write down that an encoder of that width pools by the mean; sentence-transformers can then load the folder."""
    parts = (("", "Transformer"), ("1_Pooling", "Pooling"))
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(parts)
    ]
    pooling = {"word_embedding_dimension": width, MEAN: True, "pooling_mode_cls_token": False}
    (Path(folder) / "1_Pooling").mkdir(parents=True, exist_ok=True)
    for name, value in ((FILE, pooling), ("modules.json", modules)):
        (Path(folder) / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
