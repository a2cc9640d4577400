"""An explanation as a value: words taken together, and what is shown, stored and sent of it."""

from __future__ import annotations

import json

from treetop.explanation import BIAS, TFIDF, Explanation, Member, Neighbour, Removal, Step, Word


def example(**changes: object) -> Explanation:
    words = (
        Word("Fish", 0, 4, 0.5, {TFIDF: 0.5}),
        Word("bone", 9, 13, -0.75, {TFIDF: -0.75}),
        Word("fish", 14, 18, 0.5, {TFIDF: 0.25, "encoder": 0.25}),
        Word("soup", 19, 23, 0.25, {TFIDF: 0.25}),
    )
    values: dict[str, object] = {
        "text": "Fish and bone fish soup", "label": "food", "method": "xr-linear", "score": 0.75, "kind": "score",
        "rank": 1, "margin": 0.25, "words": words, "parts": {TFIDF: 0.25, "encoder": 0.25, BIAS: -0.25},
        "path": (Step(0, 0, 3, 2, ("food", "drink"), 0.25, {TFIDF: 0.5, BIAS: -0.25}, (0.5, -0.75, 0.5, 0.25)),),
        "nearest": (Neighbour("a fish", ("food",), 0.5, ("fish",)),),
        "removal": Removal(("fish",), 0.5, 0.75, 0.25, True),
    }  # fmt: skip
    return Explanation(**values | changes)  # type: ignore[arg-type]


def test_a_words_places_are_taken_together() -> None:
    assert [(word.word, word.contribution) for word in example().strongest()] == [
        ("Fish", 1.0), ("bone", -0.75), ("soup", 0.25),
    ]  # fmt: skip
    assert example().strongest(1)[0].parts == {TFIDF: 0.75, "encoder": 0.25}


def test_words_for_and_against_a_label_can_be_asked_for() -> None:
    assert [word.word for word in example().strongest(sign=1)] == ["Fish", "soup"]
    assert [word.word for word in example().strongest(sign=-1)] == ["bone"]


def test_it_goes_through_json_unchanged() -> None:
    whole = example(members=(Member(1.0, example()),)).to_dict()
    assert json.loads(json.dumps(whole)) == whole
    assert whole["members"][0]["explanation"] == example().to_dict()
    assert whole["path"][0]["words"] == [0.5, -0.75, 0.5, 0.25]
    assert whole["removal"]["words"] == ["fish"]


def test_a_record_per_word() -> None:
    assert example().records()[1] == {
        "word": "bone", "start": 9, "end": 13, "contribution": -0.75, "parts": {TFIDF: -0.75},
    }  # fmt: skip
