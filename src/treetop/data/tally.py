"""What is counted while data is read: nulls, lines in another encoding, how labels were told apart."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LONGEST_MISSING", "MISSING", "Tally"]

MISSING = frozenset(("NaN", "nan", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaT", "null", "NULL", "None", "\\N"))
"""What pandas, R, spreadsheets and databases write into a cell that holds nothing."""
LONGEST_MISSING = max(map(len, MISSING))
"""Longer cells need not be looked up, for which all of them would have to be hashed."""


@dataclass(slots=True)
class Tally:
    """What a reader noticed; it is filled in while the data comes in."""

    source: str = ""
    """What was read, in a word: the name of a file or the kind of a table."""
    encoding: str | None = None
    """The encoding that was asked for, or that a byte order mark tells; None: UTF-8."""
    western: int = 0
    """Lines that are not UTF-8 and were read as windows-1252."""
    damaged: int = 0
    """Lines of UTF-8 with broken characters, which became U+FFFD."""
    null_texts: int = 0
    """Text fields that are null or absent, or cells of a table that say so."""
    null_labels: int = 0
    """Label fields that are null or absent, and nulls among the labels of a list."""
    missing_cells: int = 0
    """Label cells that hold a word for nothing, such as NaN."""
    split: str = ""
    """How labels in one string were told apart; empty if they came as lists."""
    guessed: bool = False
    """Whether that was found out from the data."""
    inseparable: tuple[tuple[str, str], ...] = ()
    """Pairs of names that always stand side by side: perhaps one name that holds the separator."""
