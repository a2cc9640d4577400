from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from tiny_encoders import make_encoder
from treetop.errors import ConfigError
from treetop.text.frozen import layers_of, lowest, run_lowest, skipping


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = make_encoder(tmp_path_factory.mktemp("encoder") / "bert", ["red", "fish"], layers=3)
    return transformers.AutoModel.from_pretrained(folder).eval()


@torch.no_grad()
def test_running_the_lowest_and_then_the_others_is_running_all(model: Any) -> None:
    inputs = {"input_ids": torch.tensor([[1, 5, 6, 2]])}
    whole = model(**inputs, output_hidden_states=True)
    ran: list[int] = []
    hooks = [
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
        for number, layer in enumerate(layers_of(model))
    ]
    found = run_lowest(model, 2, inputs)
    assert isinstance(found, torch.Tensor)
    assert ran == [0, 1]
    torch.testing.assert_close(found, whole.hidden_states[2])
    for hook in hooks:
        hook.remove()
    with skipping(model, 2, torch.zeros_like(found)):
        assert not torch.equal(model(**inputs).last_hidden_state, whole.last_hidden_state)
    with skipping(model, 2, found):
        rest = model(**inputs, output_hidden_states=True)
    torch.testing.assert_close(rest.last_hidden_state, whole.last_hidden_state)
    torch.testing.assert_close(rest.hidden_states[2], whole.hidden_states[2])
    torch.testing.assert_close(model(**inputs).last_hidden_state, whole.last_hidden_state)  # all layers run again


def test_the_lowest_are_the_embeddings_and_the_first_layers(model: Any) -> None:
    assert lowest(model, 0) == []
    assert set(lowest(model, 1)) >= {model.embeddings, model.encoder.layer[0]}
    assert model.encoder.layer[1] not in lowest(model, 1)


def test_an_encoder_without_a_list_of_layers(model: Any) -> None:
    class Strange(torch.nn.Module):
        config = model.config

    with pytest.raises(ConfigError, match="set freeze=0"):
        lowest(Strange(), 1)
