from __future__ import annotations

from typing import Any

import pytest

from treetop.config import from_dict
from treetop.errors import ConfigError
from treetop.text.encoder_config import EncoderConfig


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_tokens": 3}, "max_tokens is 3"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"keep_frozen": True}, "needs frozen layers"),
        ({"name": ""}, "no name"),
        ({"reader": "onnx", "reader_precision": "bfloat16"}, "choose int8 or float32"),
        ({"reader": "tensorrt"}, "'reader' is 'tensorrt'"),
    ],
)
def test_impossible_settings(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        from_dict(EncoderConfig, wrong)


def test_settings_of_models_that_knew_no_readers() -> None:
    assert from_dict(EncoderConfig, {"name": "minilm", "max_tokens": 64}).reader == "auto"
