from __future__ import annotations

import io

import numpy as np
import pandas as pd

from treetop.data.tally import MISSING, Tally


def test_what_pandas_writes_for_nothing_is_known() -> None:
    nothing = [None, np.nan, pd.NA, pd.NaT]
    assert {str(value) for value in nothing} <= MISSING
    words = pd.read_csv(io.StringIO("x\n" + "\n".join(sorted(MISSING - {"\\N", "NAN", "NaT"})))).x
    assert words.isna().all()  # and what pandas reads as nothing


def test_names_that_are_names() -> None:
    assert MISSING.isdisjoint(["", "none", "Na", "nano", "0", "-"])


def test_a_fresh_tally_says_nothing() -> None:
    assert Tally() == Tally(source="", encoding=None, split="")
