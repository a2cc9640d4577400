"""Tf-idf: the same vocabulary and values as scikit-learn for the same options, on nasty texts too."""

from __future__ import annotations

import itertools
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer

from treetop.config import from_dict, override, to_dict
from treetop.errors import ConfigError, DataError, NotFittedError, StoreError
from treetop.sparse import canonical
from treetop.store import Folder
from treetop.text import Tfidf, TfidfConfig
from treetop.text.rows import chunks

NASTY = [
    "The quick brown fox jumps over the lazy dog; the DOG sleeps.",
    "",
    "   \t\n  ",
    "a b c ! ?",
    "emoji 😀😀 and flags 🇩🇪 family 👩‍👩‍👧 done 😀",
    "combining: e\u0301cole école E\u0301COLE n\u0303 \u0301lone",
    "שלום עולם مرحبا بالعالم שלום",
    "İstanbul ISPARTA ıspanak Iğdır i̇stanbul",
    "ΣΊΣΥΦΟΣ ΌΔΟΣ final sigma ς σ",
    "ÀÉÎ ÄÖÜ ДОМ ȺȾ grow, K kelvin Å shrinks, ℡ №",
    "हिन्दी में पाठ ไทย ภาษาไทย 日本語のテキスト 中文",
    "ﬁne ﬂight ½ ² ⅷ Ⅷ ª snake_case __init__ 3.14 1,000 x²",
    "tabs\tand\u00a0hard\u2003spaces  \r\n double\n\nlines \x1c sep",
    "ß STRASSE straße ẞ ŉ ǰ",
    "null\x00byte lone \ud800 surrogate \udfff",
    "the the the the the dog dog fox and or a an",
    "word" * 3000,
    " ".join(f"t{i % 97}" for i in range(2000)),
]
PLAIN = [
    "the cat sat on the mat",
    "a cat and a dog",
    "the dog ate the cat food",
    "birds fly over the mat",
    "one more dog",
]


def sklearn_options(options: dict[str, Any]) -> dict[str, Any]:
    """Ours to theirs, for one kind of n-gram."""
    theirs = dict(options)
    for analyzer in ("word", "char_wb", "char"):
        ngrams = theirs.pop(f"{analyzer}_ngrams", None)
        if ngrams is not None:
            theirs |= {"analyzer": analyzer, "ngram_range": ngrams}
    if isinstance(theirs.get("stop_words"), tuple):
        theirs["stop_words"] = list(theirs["stop_words"])
    return theirs


def assert_same(ours: sp.csr_array, theirs: Any) -> None:
    theirs = sp.csr_array(theirs)
    theirs.sort_indices()
    assert ours.shape == theirs.shape
    assert ours.dtype == np.float32
    assert ours.indices.dtype == np.int32
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-6, atol=1e-6)


def check(texts: list[str], others: list[str], options: dict[str, Any]) -> None:
    theirs = TfidfVectorizer(**sklearn_options(options))
    ours = Tfidf(TfidfConfig(**options))
    assert_same(ours.fit_transform(texts), theirs.fit_transform(texts))
    assert ours.terms == theirs.get_feature_names_out().tolist()
    assert ours.width == len(ours.terms)
    assert_same(ours.transform(others), theirs.transform(others))
    assert_same(Tfidf(TfidfConfig(**options)).fit(texts).transform(others), theirs.transform(others))


WORDS = [{}, {"word_ngrams": (1, 2)}, {"word_ngrams": (2, 3)}]
CHARS = [
    {"word_ngrams": None, kind: ngrams}
    for kind in ("char_ngrams", "char_wb_ngrams")
    for ngrams in ((1, 1), (1, 3), (2, 4), (5, 7))
]
WEIGHTS = [
    {"sublinear_tf": sublinear, "use_idf": use_idf, "smooth_idf": smooth, "norm": norm}
    for sublinear, (use_idf, smooth), norm in itertools.product(
        (False, True), ((True, True), (True, False), (False, True)), ("l2", "l1", None)
    )
]
LETTERS = [
    {"lowercase": lowercase, "strip_accents": accents}
    for lowercase, accents in itertools.product((True, False), (None, "unicode", "ascii"))
]
CHOICES = [
    {"min_df": 2},
    {"min_df": 0.2},
    {"max_df": 2},
    {"max_df": 0.3},
    {"min_df": 2, "max_df": 0.5},
    {"stop_words": "english"},
    {"stop_words": ("the", "école", "שלום"), "word_ngrams": (1, 2)},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"\b\w\w+\b"},
    {"token_pattern": r"[^\s]+"},
    {"token_pattern": r"\w*", "word_ngrams": (1, 2)},
    {"token_pattern": r"(?i)t(\d+)|the"},
    {"token_pattern": r"(?<=\s)\S+(?=\s)", "stop_words": ("dog",), "word_ngrams": (1, 3)},
]


@pytest.mark.parametrize("options", [a | b for a in WORDS + CHARS for b in LETTERS], ids=str)
def test_terms_are_those_of_scikit_learn(options: dict[str, Any]) -> None:
    check(NASTY, NASTY[::-1] + PLAIN, options)


@pytest.mark.parametrize("options", [a | b for a in (WORDS[1], CHARS[1]) for b in WEIGHTS], ids=str)
def test_weights_are_those_of_scikit_learn(options: dict[str, Any]) -> None:
    check(NASTY + PLAIN, [*PLAIN, "nothing known: qqq"], options)


@pytest.mark.parametrize("options", CHOICES, ids=str)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_choices_are_those_of_scikit_learn(options: dict[str, Any]) -> None:
    check(NASTY + PLAIN, PLAIN + NASTY, options)


@given(
    texts=st.lists(st.text(max_size=60), min_size=1, max_size=6),
    options=st.sampled_from(WORDS + CHARS),
    letters=st.sampled_from(LETTERS),
)
@settings(max_examples=150)
def test_any_unicode_gives_what_scikit_learn_gives(texts: list[str], options: Any, letters: Any) -> None:
    check([*texts, "at least one word"], texts, options | letters)


def test_a_megabyte_in_one_text() -> None:
    letters = np.random.default_rng(0).choice(list("abcdeé     "), 1_100_000)
    long = "".join(letters.tolist())
    check([long, "short", long[: len(long) // 2]], [long], {"sublinear_tf": True})


@pytest.mark.parametrize("cap", [1, 3, 4, 10])
def test_the_cap_keeps_the_most_frequent_and_ties_go_by_term(cap: int) -> None:
    counter = CountVectorizer().fit(PLAIN)
    totals = counter.transform(PLAIN).sum(axis=0).A1
    ranked = sorted(zip(-totals, counter.get_feature_names_out(), strict=True))
    expected = sorted(term for _, term in ranked[:cap])
    ours = Tfidf(TfidfConfig(max_features=cap))
    found = ours.fit_transform(PLAIN)
    assert ours.terms == expected
    assert_same(found, TfidfVectorizer(vocabulary=expected).fit_transform(PLAIN))


def test_kinds_stand_side_by_side_and_the_whole_row_has_length_one() -> None:
    config = TfidfConfig(word_ngrams=(1, 2), char_wb_ngrams=(2, 3), char_ngrams=(1, 2), sublinear_tf=True, min_df=2)
    texts = NASTY + PLAIN
    blocks, names = [], []
    for options in ({"word_ngrams": (1, 2)}, {"char_wb_ngrams": (2, 3)}, {"char_ngrams": (1, 2)}):
        vectorizer = TfidfVectorizer(**sklearn_options(options), sublinear_tf=True, min_df=2, norm=None)
        blocks.append(vectorizer.fit_transform(texts))
        names += vectorizer.get_feature_names_out().tolist()
    joined = sp.csr_array(sp.hstack(blocks))
    lengths = np.sqrt((joined * joined).sum(axis=1))
    expected = sp.csr_array(joined.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))
    ours = Tfidf(config)
    assert_same(ours.fit_transform(texts), expected)
    assert ours.terms == names
    assert_same(ours.transform(texts[::-1]), expected[::-1])


@pytest.mark.parametrize(
    "options", [{}, {"word_ngrams": (1, 2)}, {"word_ngrams": None, "char_wb_ngrams": (3, 4)}], ids=str
)
@pytest.mark.parametrize("use_idf", [True, False])
def test_hashing_is_scikit_learns_without_signs(options: dict[str, Any], use_idf: bool) -> None:
    texts = [text for text in NASTY if "\ud800" not in text] + PLAIN
    hasher = HashingVectorizer(**sklearn_options(options), n_features=2**10, alternate_sign=False, norm=None)
    counts = hasher.transform(texts)
    expected = TfidfTransformer(use_idf=use_idf, sublinear_tf=True).fit_transform(counts)
    ours = Tfidf(TfidfConfig(**options, hash_bits=10, use_idf=use_idf, sublinear_tf=True))
    assert_same(ours.fit_transform(texts), expected)
    assert_same(ours.transform(texts), expected)
    assert ours.width == 2**10


def test_hashing_without_idf_needs_no_fit() -> None:
    config = TfidfConfig(hash_bits=8, use_idf=False, char_ngrams=(2, 3))
    rows = Tfidf(config).transform(PLAIN)
    assert rows.shape == (len(PLAIN), 2 * 2**8)
    assert_same(rows, Tfidf(config).fit(PLAIN).transform(PLAIN))
    with pytest.raises(NotFittedError):
        Tfidf(TfidfConfig(hash_bits=8)).transform(PLAIN)


def test_streams_equal_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (NASTY + PLAIN) * 3
    config = TfidfConfig(word_ngrams=(1, 2), char_ngrams=(2, 2), sublinear_tf=True, min_df=2, max_features=300)
    whole = Tfidf(config)
    expected = whole.fit_transform(texts)
    monkeypatch.setattr("treetop.text.rows.chunks.__defaults__", (500,))
    streamed = Tfidf(config)
    assert_same(streamed.fit_transform(text for text in texts), expected)
    assert streamed.terms == whole.terms
    parts = list(streamed.transform_chunks(iter(texts)))
    assert len(parts) > 5
    assert_same(canonical(sp.vstack(parts)), expected)
    assert_same(Tfidf(config).fit(iter(texts)).transform(iter(texts)), expected)


def test_threads_do_not_change_anything() -> None:
    texts = [" ".join(f"w{(i * j) % 3001}" for j in range(400)) for i in range(1500)]
    one, two = Tfidf(), Tfidf()
    a, b = one.fit_transform(texts, threads=1), two.fit_transform(texts, threads=2)
    assert one.terms == two.terms
    for x, y in ((a, b), (a, one.transform(texts, threads=2))):
        np.testing.assert_array_equal(x.indptr, y.indptr)
        np.testing.assert_array_equal(x.indices, y.indices)
        np.testing.assert_array_equal(x.data, y.data)


def test_many_threads_may_share_one_model(tmp_path: Path) -> None:
    loaded = saved(Tfidf().fit(PLAIN), tmp_path)
    expected = loaded.transform(PLAIN).toarray()
    fresh = Tfidf.load(Folder.open(tmp_path / "model"))
    results: list[Any] = []
    workers = [threading.Thread(target=lambda: results.append(fresh.transform(PLAIN).toarray())) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 8
    assert all(np.array_equal(result, expected) for result in results)


def saved(tfidf: Tfidf, path: Path) -> Tfidf:
    with Folder.create(path / "model") as folder:
        tfidf.save(folder)
    return Tfidf.load(Folder.open(path / "model"))


@pytest.mark.parametrize(
    "config",
    [
        TfidfConfig(),
        TfidfConfig(
            word_ngrams=(1, 2), char_wb_ngrams=(3, 4), stop_words="english", strip_accents="unicode", norm="l1"
        ),
        TfidfConfig(token_pattern=r"\S+", stop_words=("cat",), use_idf=False, min_df=2, max_df=0.9, max_features=20),
        TfidfConfig(hash_bits=9),
        TfidfConfig(hash_bits=9, use_idf=False),
    ],
    ids=str,
)
def test_a_saved_model_gives_identical_rows(config: TfidfConfig, tmp_path: Path) -> None:
    texts = NASTY + PLAIN
    original = Tfidf(config).fit(texts)
    loaded = saved(original, tmp_path)
    assert loaded.config == config
    assert loaded.width == original.width
    a, b = original.transform(texts), loaded.transform(texts)
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)
    if config.hash_bits is None:
        assert loaded.terms == original.terms


@pytest.mark.parametrize(
    ("name", "value"), [("format", 99), ("width", 3), ("config", {"min_fd": 2}), ("config", {"char_ngrams": [2, 2]})]
)
def test_a_folder_that_does_not_fit_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    saved(Tfidf().fit(PLAIN), tmp_path)
    folder = Folder.open(tmp_path / "model")
    folder.write_json("tfidf.json", folder.read_json("tfidf.json") | {name: value})
    with pytest.raises(StoreError, match=r"tfidf\.json"):
        Tfidf.load(folder)


def test_an_incomplete_folder_is_refused(tmp_path: Path) -> None:
    saved(Tfidf().fit(PLAIN), tmp_path)
    folder = Folder.open(tmp_path / "model")
    folder.write_tensors("tfidf.safetensors", {"idf": np.ones(3, np.float32)})
    with pytest.raises(StoreError):
        Tfidf.load(folder)


def test_one_text_touches_only_its_own_terms(tmp_path: Path) -> None:
    """Anything done for every term of the vocabulary would need an array of its size."""
    texts = [" ".join(f"word{(i * 7919 + j * j) % 20011}" for j in range(200)) for i in range(500)]
    loaded = saved(Tfidf(TfidfConfig(sublinear_tf=True)).fit(texts), tmp_path)
    loaded.transform(texts[:1])
    tracemalloc.start()
    loaded.transform(texts[:1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * loaded.width


@pytest.mark.parametrize("texts", [[""], ["a b", "!"], ["  "]])
def test_a_vocabulary_without_terms_says_what_to_do(texts: list[str]) -> None:
    with pytest.raises(DataError, match="lower min_df"):
        Tfidf().fit(texts)
    with pytest.raises(DataError, match="lower min_df"):
        Tfidf(TfidfConfig(min_df=3)).fit_transform(PLAIN[:2])


def test_a_failed_fit_keeps_what_was_learned() -> None:
    tfidf = Tfidf().fit(PLAIN)
    with pytest.raises(DataError):
        tfidf.fit([""])
    assert "cat" in tfidf.terms


def test_no_texts() -> None:
    with pytest.raises(DataError, match="no texts"):
        Tfidf().fit([])
    assert Tfidf().fit(PLAIN).transform([]).shape == (0, Tfidf().fit(PLAIN).width)


def test_nothing_works_before_fit(tmp_path: Path) -> None:
    tfidf = Tfidf()
    for use in (lambda: tfidf.transform(PLAIN), lambda: tfidf.width, lambda: tfidf.terms, lambda: tfidf.idf):
        with pytest.raises(NotFittedError, match="fit"):
            use()
    with pytest.raises(NotFittedError), Folder.create(tmp_path / "model") as folder:
        tfidf.save(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word_ngrams": (2, 1)}, "word_ngrams"),
        ({"char_ngrams": (0, 2)}, "char_ngrams"),
        ({"char_wb_ngrams": (1, 2, 3)}, "char_wb_ngrams"),
        ({"word_ngrams": None}, "no kind of n-gram"),
        ({"min_df": 0}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"min_df": -0.1}, "min_df"),
        ({"max_features": 0}, "max_features"),
        ({"norm": "l3"}, "norm"),
        ({"strip_accents": "yes"}, "strip_accents"),
        ({"stop_words": "german"}, "stop_words"),
        ({"token_pattern": "("}, "token_pattern"),
        ({"hash_bits": 31}, "hash_bits"),
        ({"hash_bits": 10, "min_df": 2}, "vocabulary"),
    ],
)
def test_impossible_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TfidfConfig(**options)


def test_a_config_survives_json_and_overrides() -> None:
    config = TfidfConfig(stop_words=("a", "b"), char_ngrams=(2, 3), max_df=1)
    copy = from_dict(TfidfConfig, to_dict(config))
    assert copy == config
    assert isinstance(copy.max_df, int)
    changed = override(config, ["min_df=0.25", "char_ngrams=[1,2]", "word_ngrams=none", "stop_words=english"])
    assert changed == TfidfConfig(stop_words="english", char_ngrams=(1, 2), max_df=1, min_df=0.25, word_ngrams=None)


def test_features_beyond_a_share_of_memory_are_the_same_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"word{number} and word{number % 7}" for number in range(300)]
    monkeypatch.setattr("treetop.text.tfidf.chunks", lambda given: chunks(given, 500))
    held = Tfidf(TfidfConfig()).fit_transform(texts)
    monkeypatch.setattr("treetop.text.rows._SMALL", 1000)
    monkeypatch.setattr("treetop.text.rows.available_memory", lambda: 0)
    mapped, once = (Tfidf(TfidfConfig()).fit_transform(given) for given in (texts, iter(texts)))
    for found in (mapped, once):
        assert not found.indices.flags.writeable
        np.testing.assert_array_equal(found.indptr, held.indptr)
        np.testing.assert_array_equal(found.indices, held.indices)
        np.testing.assert_array_equal(found.data, held.data)
