"""Explanations of models with an encoder: complete within 5 %, by sources, and of ensembles by members."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from conftest import planted
from tiny_methods import NEURAL_MAKERS, cascade, recursive
from treetop.errors import MissingExtraError
from treetop.explanation import BIAS, ENCODER, NO_WORDS, READING, REST, TFIDF, Explanation
from treetop.linear import LinearTreeConfig, SearchConfig
from treetop.methods import Method
from treetop.methods.ensemble import Ensemble
from treetop.methods.xr_linear import XRLinear
from treetop.runtime import Runtime

TRAIN, TEST = planted(400, seed=1), planted(20, seed=2).corpus.texts
LINEAR = LinearTreeConfig(search=SearchConfig(link="sigmoid", combine="last"))
MAKERS = NEURAL_MAKERS | {
    "cascadexml with a linear part": cascade(sparse=True, linear=LINEAR),
    "xr-transformer, scores multiplied": recursive(ranker=LinearTreeConfig()),
}


@cache
def fitted(name: str) -> Method[Any]:
    return MAKERS[name](Runtime(threads=1)).fit(TRAIN)


def check_adds_up(found: Explanation) -> None:
    constants = sum(found.parts.get(source, 0.0) for source in (BIAS, NO_WORDS, READING))
    words = sum(word.contribution for word in found.words)
    assert words + constants + found.parts[REST] == pytest.approx(found.margin, abs=1e-5)
    by_source = sum(word.parts.get(ENCODER, 0.0) for word in found.words)
    assert by_source == pytest.approx(found.parts[ENCODER], abs=1e-6)


def score_of(name: str, found: Explanation) -> float | None:
    """What the model's own links make of the margins; None where two models vote."""
    margins = np.array([step.margin for step in found.path])
    if name.startswith(("lightxml", "cascadexml")):
        return float(np.prod(1 / (1 + np.exp(-margins[-2:])))) if len(margins) else None
    return float(np.exp(-(np.maximum(0, 1 - margins) ** 3).sum())) if "multiplied" in name else float(margins[-1])


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_complete(name: str) -> None:
    model = fitted(name)
    for text in TEST[:3]:
        found = model.explain(text)
        check_adds_up(found)
        whole = abs(found.parts[ENCODER] + found.parts[REST])
        assert abs(found.parts[REST]) <= 0.05 * max(whole, 0.02)
        assert (TFIDF in found.parts) == (getattr(model, "tfidf", None) is not None)
        assert found.rank == 1
        assert found.notes == ()
        assert not found.path or found.path[-1].examples == (found.label,)
        score = score_of(name, found)
        assert score is None or found.score == pytest.approx(score, abs=2e-3)
        for step in found.path:
            assert sum(step.parts.values()) == pytest.approx(step.margin, abs=1e-4)


def test_planted_words_are_found() -> None:
    model = fitted("lightxml flat")
    found = [model.explain(text) for text in TEST]
    right = [one.strongest(1, sign=1)[0].word.startswith(f"word{one.label[6]}x{one.label[8]}") for one in found]
    assert np.mean(right) > 0.6


def test_without_torch_the_rest_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = fitted("xr-transformer")
    whole = model.explain(TEST[0])

    def missing() -> None:
        raise MissingExtraError("torch", "neural")

    monkeypatch.setattr(model.reader, "text_encoder", missing)
    found = model.explain(TEST[0])
    assert len(found.notes) == 1
    assert "torch is not installed" in found.notes[0]
    assert found.margin == pytest.approx(whole.margin)
    assert found.parts[TFIDF] == pytest.approx(whole.parts[TFIDF])
    assert found.parts[ENCODER] == pytest.approx(
        sum(whole.parts[source] for source in (ENCODER, NO_WORDS, READING, REST)), abs=1e-4
    )
    assert all(word.parts.keys() == {TFIDF} for word in found.words)


def test_members_have_their_say() -> None:
    one, other = XRLinear().fit(TRAIN), fitted("lightxml flat")
    model = Ensemble.of([one, other], weights=(3, 1), fuser="rank_average")
    found = model.explain(TEST[0])
    assert [(member.weight, member.explanation.method) for member in found.members] == [
        (0.75, "xr-linear"), (0.25, "lightxml"),
    ]  # fmt: skip
    margins = [member.explanation.margin for member in found.members]
    assert found.margin == pytest.approx(0.75 * margins[0] + 0.25 * margins[1])
    assert margins == pytest.approx([each.explain(TEST[0], found.label).margin for each in (one, other)], abs=1e-5)
    assert found.removal is None
    assert "give one to see what to remove" in found.notes[0]
    check_adds_up(found)
