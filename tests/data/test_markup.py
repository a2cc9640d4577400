from __future__ import annotations

import pytest

from treetop.data.markup import looks_marked_up, without_markup


@pytest.mark.parametrize("text", ["<p>x</p>", "a<br/>b", 'see <a href="x">', "Tom &amp; Jerry", "caf&#233;", "<b>bold"])
def test_html_is_seen_and_removed(text: str) -> None:
    assert looks_marked_up(text)
    assert not looks_marked_up(without_markup(text))


@pytest.mark.parametrize("text", ["a < b and c > d", "AT&T; fine", "x <- y", "List<int>x", "<3", ""])
def test_what_is_no_html(text: str) -> None:
    assert looks_marked_up(text) == (text == "List<int>x")  # a tag by its looks


def test_what_remains_reads_like_the_page() -> None:
    page = "<style>p {}</style><p>One <b>w</b>ord</p><p>it&rsquo;s&nbsp;<!-- not -->here</p><script>x()</script>"
    assert without_markup(page).split() == ["One", "word", "it’s", "here"]
    assert without_markup("plain") == "plain"
