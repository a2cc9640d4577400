"""An explanation in the terminal: what is told of each part, and how a long text is cut."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from test_explanation import example
from treetop.apps.explain_page import show_explanation
from treetop.explanation import Explanation, Member, Removal, Word


def page(found: Explanation, width: int = 110) -> str:
    console = Console(width=width, record=True, color_system=None)
    with console.capture() as capture:
        show_explanation(found, console=console)
    return capture.get()


def test_every_part_has_its_place() -> None:
    shown = page(replace(example(), label_text="something to eat", notes=("no torch",)))
    for part in (
        "food · something to eat", "score 0.750, suggestion 1, by xr-linear", "Fish and bone fish soup",
        "words (tf-idf)", "together (margin)", "+1.00", "−0.75", "how it was found", "food · drink",
        "fish +1.00, bone −0.75", "Without the word fish its score would be 0.250, below the threshold of 0.500.",
        "training texts with this label", "both have: fish", "! no torch",
    ):  # fmt: skip
        assert part in shown, part


def test_what_is_not_there_is_not_shown() -> None:
    shown = page(replace(example(), path=(), nearest=(), removal=None, rank=None))
    assert "not among the first fifty" in shown
    for part in ("how it was found", "training texts", "Without", "members"):
        assert part not in shown


def test_words_that_are_not_enough_are_told() -> None:
    gone = Removal(("a", "b"), 0.5, 0.9, 0.8, False)
    assert "Even without 2 words (a, b) its score would be 0.800, not below" in page(replace(example(), removal=gone))
    none = Removal((), 0.5, 0.9, 0.9, False)
    assert "No word speaks for the label" in page(replace(example(), removal=none))


def test_members_of_an_ensemble_have_a_row() -> None:
    shown = page(replace(example(), members=(Member(0.75, example()), Member(0.25, example()))))
    assert "75 %" in shown
    assert "Fish +1.00, bone −0.75" in shown


def test_a_long_text_is_cut_to_what_matters() -> None:
    text = "x " * 2000 + "fish " + "y " * 2000
    found = replace(example(), text=text, words=(Word("fish", 4000, 4004, 1.0, {"tf-idf": 1.0}),), path=())
    shown = page(found)
    assert "… x x x" in shown
    assert "fish y y" in shown
    assert len(shown) < 1500


def test_words_that_add_next_to_nothing_are_left_out_and_a_narrow_terminal_shows_all_columns() -> None:
    idle = Word("the", 0, 3, 0.0004, {"tf-idf": 0.0004})
    found = replace(example(), words=(*example().words, idle))
    found = replace(found, path=tuple(replace(step, examples=("a very long name of a label",) * 3, labels=9,
                                              words=(*step.words, 0.0004)) for step in found.path))  # fmt: skip
    shown = page(found, width=72)
    assert not any(line.startswith("the ") for line in shown.splitlines())
    assert "fish +1.00, bone −0.75" in shown
    assert max(map(len, shown.splitlines())) <= 72
