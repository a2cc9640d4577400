from __future__ import annotations

import pickle

import numpy as np

from reading_helpers import states_of
from treetop.text.encoder import TextEncoder
from treetop.text.reading.text_reader import FolderReader


def test_it_can_be_pickled(exported: FolderReader, texts: list[str]) -> None:
    again = pickle.loads(pickle.dumps(exported))
    assert again.folder != exported.folder
    np.testing.assert_array_equal(states_of(again, texts), states_of(exported, texts))


def test_the_encoder_is_beside_it(exported: FolderReader, encoder: TextEncoder) -> None:
    assert exported.text_encoder().digest() == encoder.digest()


def test_a_temporary_folder_ends_with_its_reader(exported: FolderReader) -> None:
    again = pickle.loads(pickle.dumps(exported))
    folder = again.folder
    assert folder.is_dir()
    del again
    assert not folder.exists()
