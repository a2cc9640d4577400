"""The worst errors."""

from __future__ import annotations

from dataclasses import replace

from treetop.apps.comparing import Field
from treetop.apps.report.mistakes import mistakes
from treetop.data import Corpus
from treetop.sparse import canonical


def test_the_surest_of_the_wrong_come_first(field: Field) -> None:
    found = mistakes(field.contenders[1], field)
    sure = [one for one in found if one.kind == "sure"]
    assert sure
    assert [one.suggested[0].score for one in sure] == sorted((one.suggested[0].score for one in sure), reverse=True)
    for one in sure:
        assert not one.suggested[0].right
        assert field.dataset.corpus.texts[one.row].startswith(one.text[:20])
        true = field.dataset.labels[[one.row]].indices.tolist()
        assert {each.label for each in one.true} == {field.dataset.space.names[label] for label in true}
        assert all(each.right == (each.label in {true.label for true in one.true}) for each in one.suggested)


def test_blind_texts_have_nothing_among_the_ten_best(field: Field) -> None:
    blind = [one for one in mistakes(field.contenders[1], field) if one.kind == "blind"]
    assert blind
    assert all(each.place is None or each.place > 10 for one in blind for each in one.true)


def test_places_are_those_in_the_list(field: Field) -> None:
    one = field.contenders[1]
    for mistake in mistakes(one, field):
        for each in mistake.true:
            if each.place is not None:
                assert one.predictions[mistake.row][each.place - 1].label == each.label


def test_the_words_that_spoke_for_the_first_suggestion_are_told(field: Field) -> None:
    one = field.contenders[1]
    assert one.model is not None
    mistake = next(mistake for mistake in mistakes(one, field) if mistake.reasons)
    words = one.model.explain(field.dataset.corpus.texts[mistake.row], mistake.suggested[0].label).words
    sums = {word.word.lower(): 0.0 for word in words}
    for word in words:
        sums[word.word.lower()] += word.contribution
    first = mistake.reasons[0]
    assert (first.word, first.contribution) == max(sums.items(), key=lambda item: item[1])
    assert all(each.contribution > 0 for each in mistake.reasons)
    assert all(not mistake.reasons for mistake in mistakes(field.contenders[2], field))  # a file cannot tell


def test_without_texts_there_is_nothing_to_show(field: Field) -> None:
    features = canonical([[1.0]] * len(field.dataset))
    bare = replace(field, dataset=replace(field.dataset, corpus=Corpus([], features)))
    assert mistakes(field.contenders[0], bare) == []
