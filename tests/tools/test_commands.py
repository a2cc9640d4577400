from __future__ import annotations

from tools.commands import PAGE, page


def test_the_page_is_what_the_commands_are() -> None:
    """After a change of options: python tools/commands.py"""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_command_and_option_is_on_it() -> None:
    shown = page()
    for part in ("## train\n", "`treetop train --data DATA --out OUT`", "`--test-share`", "`--quiet`", "`-q`"):
        assert part in shown
    assert "| `--k`, `-k` | Labels per text, at most. | `5` |" in shown
    assert "| `--names`, `--no-names` |" in shown
