from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest
import torch

from tiny_encoders import make_encoder
from treetop.errors import DataError
from treetop.neural.analysis import layer_similarity, layer_states, pooled_attention, pwcca, shortlist_recall
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text.encoder import EncoderConfig, TextEncoder

ONE = Runtime(threads=1)
TEXTS = ["red fish", "blue fish swim in the sea", "one", "red red red blue"]


def encoder(folder: Path, family: str = "bert", **options: object) -> TextEncoder:
    words = " ".join(TEXTS).split()
    name = str(make_encoder(folder / family, words, family=family))
    return TextEncoder.load(EncoderConfig(name=name, max_tokens=16, **options)).eval()  # type: ignore[arg-type]


def orthogonal(texts: int, columns: int) -> np.ndarray:
    """Columns of mean zero and length one, at right angles."""
    random = np.random.default_rng(0).standard_normal((texts, columns))
    return np.linalg.qr(random - random.mean(0))[0]


def test_recall_of_shortlists() -> None:
    true = canonical(np.array([[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]], np.float32))
    kept = canonical(np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], np.float32))
    assert shortlist_recall(true, kept) == pytest.approx(0.75)  # a half and all; the third text has nothing to find
    with pytest.raises(DataError, match="shape"):
        shortlist_recall(true, kept[:2])


def test_pwcca_of_hand_made_cases() -> None:
    a, b, c = orthogonal(50, 3).T
    both = np.stack([a, b], 1)
    assert pwcca(both, np.stack([a, c], 1)) == pytest.approx(0.5)  # one of two directions is shared
    assert pwcca(both * [3, 1], np.stack([a, c], 1)) == pytest.approx(0.75)  # and weighs three times as much
    mixed = np.stack([0.6 * a + 0.8 * c], 1)
    assert pwcca(both[:, :1], mixed) == pytest.approx(0.6)  # the correlation itself
    assert pwcca(both, np.zeros((50, 2))) == 0.0


def test_pwcca_sees_through_invertible_maps_and_not_into_noise() -> None:
    random = np.random.default_rng(1)
    x = random.standard_normal((2000, 8)).astype(np.float32)
    mapped = x @ random.standard_normal((8, 8)).astype(np.float32) + 5
    assert pwcca(x, mapped) == pytest.approx(1.0, abs=1e-4)
    assert pwcca(mapped, x) == pytest.approx(1.0, abs=1e-4)
    assert pwcca(x, random.standard_normal((2000, 8))) < 0.1
    with pytest.raises(DataError, match="8 texts"):
        pwcca(x[:8], x[:8])
    with pytest.raises(DataError, match="a row per text"):
        pwcca(x, x[:5])


def test_layers_are_like_themselves_and_states_are_the_encoders(tmp_path: Path) -> None:
    small = encoder(tmp_path)
    words = np.random.default_rng(0).choice(" ".join(TEXTS).split(), (120, 6))
    tokens = small.tokenize([" ".join(row) for row in words])
    states = layer_states(small, tokens, ONE)
    assert states.shape == (4, 120, 32)
    np.testing.assert_allclose(states[-1], small.embed(tokens, ONE), atol=1e-6)
    similarity = layer_similarity(states[1:], ONE)
    np.testing.assert_allclose(np.diag(similarity), 1, atol=1e-6)
    assert np.all((similarity > 0) & (similarity <= 1))


@pytest.mark.parametrize("family", ["bert", "xlnet", "distilbert"])
def test_attention_is_that_of_the_pooled_token(tmp_path: Path, family: str) -> None:
    small = encoder(tmp_path, family)
    batch = small.tokenize(TEXTS).pad(np.arange(4))
    before = small(batch)
    attention, place = small.pooled_attention(batch)
    assert attention.shape == (3, 4, 2, batch.ids.shape[1])
    torch.testing.assert_close(attention.sum(-1), torch.ones(3, 4, 2))
    assert float(attention.masked_select(torch.from_numpy(batch.mask == 0)[None, :, None]).sum()) < 1e-6
    assert all(batch.ids[row, at] == small.tokenizer.cls_token_id for row, at in enumerate(place.tolist()))
    torch.testing.assert_close(small(batch), before)  # the faster attention is back


def test_uniform_attention_has_the_entropy_of_its_tokens(tmp_path: Path) -> None:
    small = encoder(tmp_path)
    with torch.no_grad():
        for layer in small.model.encoder.layer:  # no query: every token is looked at alike
            layer.attention.self.query.weight.zero_()
            layer.attention.self.query.bias.zero_()
    found = pooled_attention(small, small.tokenize(["red fish", "blue"]), ONE)
    assert found.entropy == pytest.approx(np.full((3, 2), (log(4) + log(3)) / 2))
    assert found.to_itself == pytest.approx(np.full((3, 2), (1 / 4 + 1 / 3) / 2))
    with pytest.raises(DataError, match="no texts"):
        pooled_attention(small, small.tokenize([]), ONE)
