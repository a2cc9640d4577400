"""Label Studio's labelling configurations."""

from __future__ import annotations

from typing import Any

import pytest

from treetop.apps.serve.labelconfig import read_config
from treetop.apps.serve.problems import ProblemError

CHOICES = """
<View>
  <Text name="text" value="$review"/>
  <Choices name="sentiment" toName="text" choice="multiple"><Choice value="Good"/><Choice value="Bad"/></Choices>
</View>
"""
TAXONOMY = """
<View><Text name="t" value="$text"/>
<Taxonomy name="tax" toName="t"><Choice value="A"><Choice value="B"/></Choice></Taxonomy></View>
"""


def test_choices() -> None:
    config = read_config(CHOICES)
    assert (config.from_name, config.to_name, config.field) == ("sentiment", "text", "review")
    assert (config.kind, config.single, config.choices) == ("choices", False, ("Good", "Bad"))
    assert config.result(["Good"], 0.5) == {
        "from_name": "sentiment", "to_name": "text", "type": "choices", "score": 0.5, "value": {"choices": ["Good"]},
    }  # fmt: skip
    assert read_config(CHOICES.replace(' choice="multiple"', "")).single


def test_taxonomies() -> None:
    config = read_config(TAXONOMY)
    assert config.result(["B"], 1.0)["value"] == {"taxonomy": [["B"]]}
    assert config.chosen([{"from_name": "tax", "value": {"taxonomy": [["A", "B"], ["A"]]}}]) == ["B", "A"]


def test_annotations_of_other_tags_and_of_no_form_at_all() -> None:
    config = read_config(CHOICES)
    odd: list[Any] = [
        None,
        1,
        {},
        {"from_name": "sentiment"},
        {"from_name": "sentiment", "value": {"choices": [1, []]}},
    ]
    odd += [{"from_name": "sentiment", "value": value} for value in ([1], "x", {"choices": 1}, {"choices": "Good"})]
    assert config.chosen([*odd, {"from_name": "x", "value": {"choices": ["Good"]}}]) == []


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ("", "not valid XML"),
        ("<View>", "not valid XML"),
        ("<View/>", "no <Choices>"),
        ('<View><Choices name="a" toName="b"/></View>', "no <Choices>"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><View>&b;</View>', "not valid XML"),
    ],
)
def test_what_it_cannot_work_with(xml: str, said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        read_config(xml)
