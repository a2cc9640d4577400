"""Where a label stands among the suggestions."""

from __future__ import annotations

import pytest

from treetop.errors import DataError
from treetop.methods.explaining.standing import standing_of
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear

TEXTS = [f"word{number} word{number}" for number in range(60)]
LABELS = [[f"label{number:02}"] for number in range(60)]


def test_a_label_has_its_place_and_its_score() -> None:
    model = OneVsAll().fit(TEXTS, LABELS)
    suggested = model.predict(["word7 word3 word3"], 50)
    first = standing_of(model, "word7 word3 word3")
    assert (model.space.names[first.label], first.rank, first.kind) == ("label03", 1, "margin")
    second = standing_of(model, "word7 word3 word3", int(suggested.labels[0, 1]))
    assert second.rank == 2
    assert second.score == pytest.approx(float(suggested.scores[0, 1]))


def test_beyond_the_first_fifty_it_has_none() -> None:
    model = OneVsAll().fit(TEXTS, LABELS)
    last = int(model.predict(["word7"], 60).labels[0, -1])
    found = standing_of(model, "word7", last)
    assert found.rank is None
    assert found.score == pytest.approx(float(model.predict(["word7"], 60).scores[0, -1]))


def test_where_nothing_is_suggested_there_is_nothing_to_explain() -> None:
    class Silent(XRLinear):
        def predict(self, texts, k=10, **options):  # type: ignore[no-untyped-def]
            return super().predict(texts, k, **options).at_least(2.0)

    with pytest.raises(DataError, match="suggests no label"):
        standing_of(Silent().fit(TEXTS, LABELS), "word7")
