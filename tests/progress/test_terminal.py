from __future__ import annotations

import io

import pytest
from rich.console import Console

from treetop.progress import Plan, Stage, Terminal


def screen(width: int = 80) -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    return Console(file=written, force_terminal=True, width=width, color_system=None), written


def drawn(terminal: Terminal, console: Console) -> str:
    with console.capture() as capture:
        console.print(terminal._picture())
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_one_bar_for_the_run_and_the_stage_below_it(width: int) -> None:
    now = [0.0]
    console, _ = screen(width)
    terminal = Terminal(lambda: now[0], console)
    plan = Plan([Stage("embed", 100), Stage("tune level 1", 300)], 2**30, "many texts")
    with terminal.following(lambda: plan):
        with terminal.stage("embed", 10) as advance:
            now[0] = 100.0
            advance(10)
        with terminal.stage("tune level 1", 300) as advance:
            now[0] = 200.0
            advance(100, note="loss 0.5 · " + "very long " * 20)
            lines = drawn(terminal, screen(width)[0]).splitlines()
    assert len(lines) == 2
    assert all(len(line) <= width for line in lines)
    assert "50 % 3 min so far, about 3 min left" in " ".join(lines[0].split())
    assert lines[1].strip().startswith("tune level 1 · 100 of 300 · loss 0.5")


def test_the_plan_stays_and_the_bar_goes() -> None:
    console, written = screen()
    terminal = Terminal(console=console)
    plan = Plan([Stage("embed", 100)], 2**30, "many texts")
    with terminal.following(lambda: plan), terminal.stage("embed", 10) as advance:
        advance(5)
    text = written.getvalue()
    assert text.startswith("many texts: about 2 min, 1.0 GiB of memory (embed)")
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is hidden, and comes back
    assert text.endswith("\x1b[2K")  # the last line is erased


def test_an_interrupted_run_gives_the_cursor_back() -> None:
    console, written = screen()
    terminal = Terminal(console=console)
    with pytest.raises(KeyboardInterrupt), terminal.stage("embed", 10):
        raise KeyboardInterrupt
    assert "\x1b[?25h" in written.getvalue()
    assert drawn(terminal, console).strip() == ""
