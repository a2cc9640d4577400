from __future__ import annotations

import logging
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nncf", reason="needs the extra 'openvino'")

from reading_helpers import ONE, asking, both, states_of
from treetop.text.encoder import TextEncoder
from treetop.text.reading.choosing import export_reader, open_reader
from treetop.text.reading.openvino_reader import extended, round_up
from treetop.text.reading.text_reader import FolderReader
from treetop.text.tokens import Tokens


@pytest.fixture(scope="module")
def reader(encoder: TextEncoder, tokens: Tokens) -> FolderReader:
    root = logging.getLogger()
    before = (root.level, [(handler, handler.level) for handler in root.handlers])
    made = export_reader(asking(encoder, reader="openvino", reader_precision="float32"), both, tokens, ONE)
    after = (root.level, [(handler, handler.level) for handler in root.handlers])
    assert after == before  # the tools of OpenVINO would raise the levels
    assert isinstance(made, FolderReader)
    return made


def test_several_threads_share_a_reader(reader: FolderReader, texts: list[str]) -> None:
    expected = states_of(reader, texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: states_of(reader, texts), range(8)):
            np.testing.assert_array_equal(found, expected)


def test_nothing_is_reported(reader: FolderReader) -> None:
    telemetry = pytest.importorskip("openvino_telemetry")
    assert not telemetry.Telemetry("treetop", "1", "none").consent  # as it was set up when the encoder was exported


def test_states_do_not_depend_on_neighbours(reader: FolderReader, texts: list[str], tmp_path: Path) -> None:
    one = states_of(reader, texts[7:8])
    np.testing.assert_allclose(states_of(reader, texts)[7:8], one, atol=1e-5)


def test_round_shapes_say_the_same(reader: FolderReader, texts: list[str]) -> None:
    all_of_them = states_of(reader, texts)
    for count in (1, 9, 11, 17):
        np.testing.assert_allclose(states_of(reader, texts[-count:]), all_of_them[-count:], atol=1e-5)


def test_shapes_are_few() -> None:
    assert [round_up(size, 3) for size in (1, 7, 8, 9, 17, 33)] == [1, 7, 8, 10, 20, 40]
    assert {round_up(size, 4) for size in range(1, 129)} == {
        *range(1, 16),
        *range(16, 32, 2),
        *range(32, 64, 4),
        *range(64, 129, 8),
    }


def test_padding_is_where_the_tokenizer_has_it() -> None:
    some = np.array([[1, 2], [3, 4]])
    assert extended(some, (3, 4), 9, left=False).tolist() == [[1, 2, 9, 9], [3, 4, 9, 9], [1, 2, 9, 9]]
    assert extended(some, (2, 3), 9, left=True).tolist() == [[9, 1, 2], [9, 3, 4]]
    assert extended(some, (2, 2), 9, left=True) is some


def test_a_graph_is_compiled_once(reader: FolderReader, texts: list[str], tmp_path: Path, own_cache: Path) -> None:
    """What was kept gives the same states; if it is damaged, the graph is compiled again."""
    reader.save(tmp_path / "encoder")
    kept = own_cache / "treetop" / "compiled"
    expected, seen = states_of(reader, texts), set(kept.iterdir()) if kept.exists() else set()
    folder = tmp_path / "encoder"
    for damage in (None, None, b"damaged", b""):
        opened = open_reader(reader.config, folder, both, ONE)
        np.testing.assert_array_equal(states_of(opened, texts), expected)
        (new,) = set(kept.iterdir()) - seen
        if damage is None:
            continue
        content = new.read_bytes()
        new.write_bytes(zlib.crc32(damage).to_bytes(4, "little") + damage)
        np.testing.assert_array_equal(states_of(open_reader(reader.config, folder, both, ONE), texts), expected)
        assert new.stat().st_size == len(content)


def test_converters_are_imported_by_who_exports_only() -> None:
    program = (
        "import sys\nfrom treetop.text.reading import openvino_reader as reader\n"
        "assert not hasattr(reader._openvino(), 'convert_model') and reader.CONVERTERS not in sys.modules\n"
        "assert reader._converter() is sys.modules['openvino'].convert_model"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
