"""A bar for the whole run with the time left, and below it the stage under way, drawn on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from treetop.progress.plan import Plan
from treetop.progress.telling import WORTH_TELLING, Progress, remaining, words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["Terminal"]

_WORDS = 48  # columns for the words behind the bar
_A_SECOND = 4  # redrawn so often, also while a step takes long


class Terminal(Progress):
    """Draws on standard error, or on the console given; what it has drawn goes when the run ends."""

    listens = True

    def __init__(self, clock: Callable[[], float] = time.monotonic, console: Console | None = None) -> None:
        super().__init__(clock)
        self._console = console
        self._live: Any = None

    def _opened(self, plan: Plan | None) -> None:
        from rich.console import Console
        from rich.live import Live

        console = self._console or Console(stderr=True)
        if plan is not None and plan.seconds >= WORTH_TELLING:
            console.print(plan.describe(), highlight=False, markup=False)
        self._live = Live(
            get_renderable=self._picture, console=console, refresh_per_second=_A_SECOND, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def _closed(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        course = self.course
        if course is None:
            return Text("")
        line = Table.grid(padding=(0, 1))
        width = max(8, min(32, self._live.console.width - _WORDS)) if self._live is not None else 32
        bar = ProgressBar(total=1.0, completed=course.share, width=width)
        line.add_row(bar, f"{100 * course.share:3.0f} %", remaining(course))
        return Group(line, Text(f"  {words(course)}", style="dim", no_wrap=True, overflow="ellipsis"))
