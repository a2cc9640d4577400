from __future__ import annotations

from treetop.data.sampling import some_of


def test_few_texts_are_all_taken() -> None:
    assert some_of(["a", "b"], 2) == ["a", "b"]


def test_a_pattern_of_rows_does_not_decide_what_is_seen() -> None:
    texts = ["odd" if row % 10 == 0 else "plain" for row in range(30_000)]
    seen = some_of(texts, 1000)
    assert len(seen) == 1000
    assert 70 < seen.count("odd") < 130


def test_the_same_texts_are_taken_every_time_in_their_order() -> None:
    texts = [f"{row:05d}" for row in range(5000)]
    assert some_of(texts, 100) == some_of(texts, 100) == sorted(some_of(texts, 100))
