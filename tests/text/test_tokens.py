from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tiny_encoders import CLASSIC, XLNET, tokenizer
from treetop.errors import ConfigError, StoreError
from treetop.store import Folder
from treetop.text.tokens import Tokens, batches_by_length, tokenise

TEXTS = ["red fish", "", "one red fish and one blue fish swim in the sea " * 4, "fish"]
WORDS = " ".join(TEXTS).split()


@pytest.mark.parametrize("xlnet", [False, True])
def test_batches_equal_the_tokenizers_own(xlnet: bool) -> None:
    maker = tokenizer(WORDS, XLNET if xlnet else CLASSIC, xlnet=xlnet)
    tokens = tokenise(TEXTS, maker, max_tokens=16)
    for rows in ([0, 1, 2, 3], [3, 0], [1]):
        batch = tokens.pad(np.array(rows))
        own = maker(
            [TEXTS[i] for i in rows],
            truncation=True,
            max_length=16,
            padding=True,
            return_tensors="np",
            return_token_type_ids=True,
        )
        np.testing.assert_array_equal(batch.ids, own["input_ids"])
        np.testing.assert_array_equal(batch.mask, own["attention_mask"])
        if xlnet:
            assert batch.types is not None
            real = batch.mask > 0
            np.testing.assert_array_equal(batch.types[real], own["token_type_ids"][real])
            assert tokens.frame.pad_left
            assert tokens.frame.pooled_last
        else:
            assert batch.types is None


def test_a_shorter_limit_needs_no_new_tokens() -> None:
    maker = tokenizer(WORDS, CLASSIC)
    short = tokenise(TEXTS, maker, max_tokens=16).pad(np.arange(4), 8)
    np.testing.assert_array_equal(short.ids, tokenise(TEXTS, maker, max_tokens=8).pad(np.arange(4)).ids)


def test_chunks_cover_a_long_text_in_order() -> None:
    maker = tokenizer(WORDS, CLASSIC)
    tokens = tokenise(TEXTS, maker, max_tokens=10, chunks=3)
    batch = tokens.pad(np.array([2, 0]))
    assert batch.owner is not None
    assert batch.owner.tolist() == [0, 0, 0, 1]
    content = [row[mask > 0][1:-1] for row, mask in zip(batch.ids[:3], batch.mask[:3], strict=True)]
    whole = maker(TEXTS[2], add_special_tokens=False)["input_ids"]
    assert np.concatenate(content).tolist() == whole[:24]
    assert all(row[0] == tokens.frame.prefix[0] for row in batch.ids)


def test_very_long_words_are_not_lost_to_the_quick_cut() -> None:
    maker = tokenizer(["a"], CLASSIC)
    text = " ".join(["incomprehensibilities" * 3] * 4 + ["a"] * 30)  # unknown words: few tokens, many characters
    assert len(tokenise([text], maker, max_tokens=12).ids) == len(
        maker(text, add_special_tokens=False, truncation=True, max_length=10)["input_ids"]
    )


def test_cache_is_found_again_and_depends_on_everything(tmp_path: Path) -> None:
    maker = tokenizer(WORDS, CLASSIC)
    first = tokenise(TEXTS, maker, max_tokens=16, cache=tmp_path)
    assert isinstance(first.ids, np.memmap)
    stamp = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = tokenise(TEXTS, maker, max_tokens=16, cache=tmp_path)
    assert stamp == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    np.testing.assert_array_equal(first.ids, again.ids)
    np.testing.assert_array_equal(first.ids, tokenise(TEXTS, maker, max_tokens=16).ids)
    tokenise(TEXTS, maker, max_tokens=12, cache=tmp_path)
    tokenise(TEXTS[:2], maker, max_tokens=16, cache=tmp_path)
    tokenise(TEXTS, tokenizer([*WORDS, "new"], CLASSIC), max_tokens=16, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_cache_cut_short_is_noticed(tmp_path: Path) -> None:
    tokenise(TEXTS, tokenizer(WORDS, CLASSIC), max_tokens=16, cache=tmp_path)
    folder = next(tmp_path.iterdir())
    data = (folder / "ids.bin").read_bytes()
    (folder / "ids.bin").write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreError, match=r"ids\.bin.*had 34.*delete the folder to tokenise again"):
        tokenise(TEXTS, tokenizer(WORDS, CLASSIC), max_tokens=16, cache=tmp_path)
    (folder / "manifest.json").unlink()  # as before there were any
    with pytest.raises(StoreError, match=r"ids\.bin: the file is damaged"):
        Tokens.load(Folder.open(folder))
    (folder / "ids.bin").write_bytes(data + data)
    with pytest.raises(StoreError, match=r"ids\.bin: 34 tokens where 17 were written"):
        Tokens.load(Folder.open(folder))


def test_tokens_that_no_tokenizer_makes_are_noticed(tmp_path: Path) -> None:
    kept = tokenise(TEXTS, tokenizer(WORDS, CLASSIC), max_tokens=16, cache=tmp_path)
    folder = next(tmp_path.iterdir())
    (folder / "manifest.json").unlink()
    (folder / "ids.bin").write_bytes(np.full(len(kept.ids), 60_000, np.uint16).tobytes())
    with pytest.raises(StoreError, match=r"no such tokens.*delete the folder to tokenise again"):
        tokenise(TEXTS, tokenizer(WORDS, CLASSIC), max_tokens=16, cache=tmp_path)


def test_take_and_save(tmp_path: Path) -> None:
    tokens = tokenise(TEXTS, tokenizer(WORDS, CLASSIC), max_tokens=16)
    part = tokens.take(np.array([2, 0]))
    np.testing.assert_array_equal(part.pad(np.arange(2)).ids, tokens.pad(np.array([2, 0])).ids)
    with Folder.create(tmp_path / "tokens") as folder:
        part.save(folder)
    loaded = Tokens.load(Folder.open(tmp_path / "tokens"))
    np.testing.assert_array_equal(loaded.pad(np.arange(2)).ids, part.pad(np.arange(2)).ids)
    assert loaded.frame == part.frame


def test_batches_by_length_cover_all_texts_within_the_budget() -> None:
    tokens = tokenise(TEXTS * 5, tokenizer(WORDS, CLASSIC), max_tokens=16)
    batches = list(batches_by_length(tokens, budget=40))
    assert sorted(np.concatenate(batches).tolist()) == list(range(20))
    assert all(tokens.pad(rows).ids.size <= 40 for rows in batches)
    long = [" ".join(WORDS[:3] * 9), *TEXTS, " ".join(WORDS[:3] * 3)]
    pieces = tokenise(long, tokenizer(WORDS, CLASSIC), max_tokens=8, chunks=4)
    assert pieces.pieces().max() == 4
    assert all(pieces.pad(rows).ids.size <= 40 for rows in batches_by_length(pieces, budget=40))


def test_white_space_before_a_text_does_not_hide_it() -> None:
    maker = tokenizer(WORDS, CLASSIC)
    plain, late = tokenise([TEXTS[0], "\n" * 5000 + TEXTS[0]], maker, max_tokens=16).pad(np.arange(2)).ids
    np.testing.assert_array_equal(plain, late)


def test_no_texts_and_too_few_tokens() -> None:
    maker = tokenizer(WORDS, CLASSIC)
    assert len(tokenise([], maker, max_tokens=16)) == 0
    with pytest.raises(ConfigError, match="special tokens"):
        tokenise(TEXTS, maker, max_tokens=2)
