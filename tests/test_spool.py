from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, strategies as st

from treetop.spool import Spool


@given(st.lists(st.lists(st.integers(0, 60_000), max_size=5), max_size=6), st.integers(0, 6))
def test_parts_become_one_array_as_wide_as_the_widest(parts: list[list[int]], wide: int) -> None:
    spool = Spool(None, np.dtype(np.uint16))
    for number, part in enumerate(parts):
        spool.append(np.array(part, np.uint32 if number == wide else np.uint16))
    found = spool.mapped()
    assert found.tolist() == [value for part in parts for value in part]
    assert found.dtype == (np.uint32 if wide < len(parts) else np.uint16)


def test_the_file_has_no_name(tmp_path: Path) -> None:
    spool = Spool(tmp_path, np.dtype(np.float32))
    spool.append(np.ones(5, np.float32))
    assert not list(tmp_path.iterdir())
    assert not spool.mapped().flags.writeable
