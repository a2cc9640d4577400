"""Pieces of HTML."""

from __future__ import annotations

from treetop.apps.report.markup import chips, details, facts, figure, legend, section, table, text

EVIL = "<script>\"'&"


def test_what_comes_from_data_is_escaped() -> None:
    pieces = (
        text(EVIL), section("a", EVIL), table([EVIL, EVIL], [], EVIL), figure("", EVIL), legend([EVIL]),
        details(EVIL), facts({EVIL: EVIL}), chips([(EVIL, True)]),
    )  # fmt: skip
    for piece in pieces:
        assert "<script" not in piece
        assert "&lt;script&gt;&quot;&#x27;&amp;" in piece


def test_a_table_has_headings_for_those_who_hear_it() -> None:
    made = table(["name", "value"], [["one", "1"]])
    assert '<th scope="row">one</th><td class="number">1</td>' in made
    assert made.count('scope="col"') == 2


def test_facts_that_are_not_known_are_left_out() -> None:
    assert facts({"a": None, "b": "", "c": 0}) == '<dl class="facts"><dt>c</dt><dd>0</dd></dl>'
