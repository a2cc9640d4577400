"""Lines as fastText has them: words that begin with `__label__` are labels, the others the text."""

from __future__ import annotations

from pathlib import Path

from treetop.data.intake import Intake
from treetop.data.lines import Place, lines, text_lines
from treetop.runtime import Runtime

__all__ = ["is_fasttext", "read_fasttext"]

_MARK = "__label__"


def is_fasttext(path: Path) -> bool:
    """Whether the first line has such a label."""
    return any(word.startswith(_MARK.encode()) for word in next(lines(path), (1, b""))[1].split())


def read_fasttext(path: Path, intake: Intake, runtime: Runtime | None = None) -> None:
    """The texts and labels of the file; an empty line is none."""
    with Place(path) as place:
        for place.line, line in text_lines(path, runtime, intake.tally):
            if words := line.split():
                intake.rows.add([word.removeprefix(_MARK) for word in words if word.startswith(_MARK)])
                intake.texts.append(" ".join(word for word in words if not word.startswith(_MARK)))
