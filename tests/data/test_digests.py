from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from treetop.data.digests import digests, earlier_digests, feature_digests


def test_white_space_and_case_do_not_count() -> None:
    found = digests(["Stir the onions", "  stir\r\n\tthe   onions \n", "Stir the onion"])
    assert found.dtype == np.uint64
    assert found[0] == found[1] != found[2]


def test_a_digest_is_the_same_for_ever() -> None:
    """Models store them: another number here makes every stored one worthless (checked with xxhsum -H1)."""
    assert digests(["", "Ärger"]).tolist() == [0xEF46DB3751D8E999, 0x410FFA7519FD81AF]


def test_those_of_earlier_versions_are_still_known() -> None:
    """Checked with b2sum -l 64."""
    assert earlier_digests(["", "Ärger"]).tolist() == [13020603013274838756, 13780520231351176727]
    assert earlier_digests(["Ab c"]) == earlier_digests(["aB\nC"])


def test_any_string_has_one() -> None:
    assert len(np.unique(digests(["\ud800", "\ud801", "\0", "", "é", "É", "🙂"]))) == 7
    assert digests([]).shape == (0,)


def test_rows_of_features_have_one() -> None:
    rows = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 2, 0], [0, 0, 0]], np.float32)
    found = feature_digests(csr_array(rows))
    assert found[0] == found[1]
    assert len(np.unique(found)) == 4
    wide = csr_array(rows.astype(np.float64))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert feature_digests(wide).tolist() == found.tolist()
