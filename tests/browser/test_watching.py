"""The watch over pages itself: it must notice what it is there for."""

from __future__ import annotations

from browser_watch import Watched


def test_errors_and_requests_are_noticed(watched: Watched) -> None:
    watched.page.set_content("<script>console.error('ouch'); nothing.here()</script>")
    assert [trouble.split(":")[0] for trouble in watched.troubles] == ["ouch", "nothing is not defined"]
    watched.troubles.clear()
    watched.page.set_content("<img src='http://treetop.invalid/x.png'>")
    assert watched.abroad == ["http://treetop.invalid/x.png"]
    watched.troubles.clear()
    watched.asked.clear()
