from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from scipy import sparse as sp

from random_levels import (
    Weights,
    assert_agrees,
    assert_same_bits,
    csr,
    narrowed,
    one_by_one,
    random_csr,
    random_level,
    random_texts,
    random_tree,
)
from treetop import kernels
from treetop.errors import ConfigError, DataError, StoreError
from treetop.kernels.reference import search as oracle
from treetop.kernels.search import LINKS, Combine, Link
from treetop.types import CSR


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("features", "dims"), [(40, 0), (0, 7), (40, 7)])
def test_search_equals_the_reference(link: Link, features: int, dims: int, kind: Any) -> None:
    rng = np.random.default_rng(1)
    levels = random_tree(rng, (3, 11, 60), features, dims, kind=kind)
    sparse, dense = random_texts(rng, 25, features, dims)
    combine = "last" if link == "noop" else "multiply"
    labels, scores = assert_agrees(levels, sparse, dense, beams=[2, 4], k=7, link=link, combine=combine)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in labels)


def test_the_logarithm_of_the_sigmoid_is_accurate() -> None:
    margins = np.concatenate([np.linspace(-100, 100, 4001), [-1e30, 1e30, 0.0]]).astype(np.float32)
    level = kernels.pack(Weights(csr(np.zeros((1, 1))), None, np.zeros(1, np.float32)), np.array([0, 1]), np.array([0]))
    for margin in margins:
        level["bias"][:] = margin
        scores = kernels.score_level(level, csr([[1.0]]), None, None, link="sigmoid", log=True)
        assert scores.data[0] == oracle.log_link("sigmoid", margin)
        np.testing.assert_allclose(scores.data[0], -np.logaddexp(0, -float(margin)), rtol=1e-6, atol=1e-37)


@pytest.mark.parametrize("seed", range(20))
def test_search_equals_the_reference_on_random_shapes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = tuple(np.sort(rng.integers(1, 300, rng.integers(1, 4))).tolist())
    features, dims = int(rng.integers(0, 200)), int(rng.integers(0, 2) * rng.integers(1, 20))
    features = features or (0 if dims else 1)
    density = float(rng.choice([0.01, 0.2, 0.9, 1.0]))
    levels = random_tree(rng, widths, features, dims, density=density, kind=("float32", "float16", "int8")[seed % 3])
    sparse, dense = random_texts(rng, 12, features, dims, density=float(rng.choice([0.02, 0.3, 1.0])))
    beams = rng.integers(1, 20, len(widths) - 1).tolist()
    assert_agrees(levels, sparse, dense, beams=beams, k=int(rng.integers(1, 30)))


@pytest.mark.parametrize("link", LINKS)
def test_ties_go_to_the_margin_then_to_the_lower_label(link: Link) -> None:
    rng = np.random.default_rng(2)
    levels = random_tree(rng, (4, 16, 120), 10, values=[-1.0, 0.5, 1.0, 2.0], density=0.5)
    sparse = csr(rng.integers(0, 2, (40, 10)))
    combine = "last" if link == "noop" else "multiply"
    _, scores = assert_agrees(levels, sparse, None, beams=[3, 5], k=20, link=link, combine=combine)
    if link == "l3-hinge":
        assert (scores[:, 0] == scores[:, 1]).any()


def test_saturated_scores_are_ranked_by_margin() -> None:
    bias = np.array([2.0, 5.0, 5.0, 3.0], np.float32)
    level = kernels.pack(Weights(csr(np.zeros((4, 1))), None, bias), np.array([0, 4]), np.array([0, 2, 1, 3]))
    labels, scores = assert_agrees([level], csr([[1.0]]), None, beams=[], k=4)
    assert labels.tolist() == [[1, 2, 3, 0]]
    assert scores.tolist() == [[1.0] * 4]


def test_leaf_link_and_last_use_the_path_only_to_find_labels() -> None:
    rng = np.random.default_rng(3)
    levels = random_tree(rng, (3, 9, 50), 30)
    sparse, _ = random_texts(rng, 20, 30)
    options: dict[str, Any] = {"beams": [2, 3], "k": 6, "link": "l3-hinge", "combine": "last", "leaf_link": "noop"}
    labels, scores = assert_agrees(levels, sparse, None, **options)
    assert (scores[:, -1] < 0).any()
    found, _ = kernels.Searcher(levels).search(sparse, None, beams=[2, 3], k=50)
    assert all(set(row) <= set(reached) for row, reached in zip(labels, found, strict=True))


def test_empty_texts_empty_chunks_and_few_labels() -> None:
    rng = np.random.default_rng(4)
    weights = Weights(csr(np.zeros((5, 8))), None, rng.normal(size=5).astype(np.float32))
    top = kernels.pack(weights, np.array([0, 5]), np.arange(5, dtype=np.int32))
    starts = np.array([0, 0, 2, 2, 3, 3])  # parents 0, 2 and 4 have no children
    leaf = kernels.pack(Weights(random_csr(rng, 3, 8, 0.5), None, np.zeros(3, np.float32)), starts, np.array([2, 0, 1]))
    sparse = csr(np.zeros((3, 8)))
    sparse = csr(sp.vstack([sparse, random_csr(rng, 3, 8, 0.5)]))
    labels, scores = assert_agrees([top, leaf], sparse, None, beams=[100], k=9)
    assert (np.sort(labels[:, :3]) == [0, 1, 2]).all()
    assert (labels[:, 3:] == -1).all()
    assert (scores[:, 3:] == 0).all()
    _, margins = assert_agrees([top, leaf], sparse, None, beams=[100], k=9, link="noop", combine="last")
    assert np.isneginf(margins[:, 3:]).all()


def test_one_label() -> None:
    level = kernels.pack(Weights(csr([[2.0]]), None, np.ones(1, np.float32)), np.array([0, 1]), np.array([0]))
    labels, scores = assert_agrees([level], csr([[-1.0], [0.0]]), None, beams=[], k=2)
    assert labels.tolist() == [[0, -1], [0, -1]]
    np.testing.assert_allclose(scores, [[np.exp(-8), 0], [1, 0]])


def test_more_than_65535_children_of_one_parent() -> None:
    rng = np.random.default_rng(5)
    nodes = 66_000
    rows = rng.integers(0, nodes, 5000)
    sparse = csr(sp.coo_array((rng.normal(size=5000), (rows, rng.integers(0, 6, 5000))), shape=(nodes, 6)))
    weights = Weights(sparse, None, np.zeros(nodes, np.float32))
    level = kernels.pack(weights, np.array([0, nodes]), np.arange(nodes, dtype=np.int32))
    assert level["entry_child"].dtype == np.uint32
    assert_agrees([level], csr(rng.normal(size=(2, 6))), None, beams=[], k=12)


def test_extreme_values_never_give_nan() -> None:
    huge = np.float32(3e38)
    weights = Weights(csr([[huge, huge], [huge, -huge], [-huge, -huge]]), None, np.zeros(3, np.float32))
    level = kernels.pack(weights, np.array([0, 3]), np.arange(3, dtype=np.int32))
    texts = csr([[huge, huge], [1, 1], [-huge, huge]])
    for link in LINKS:
        combine: Combine = "last" if link == "noop" else "multiply"
        labels, scores = kernels.Searcher([level]).search(texts, None, beams=[], k=3, link=link, combine=combine)
        assert not np.isnan(scores).any()
        assert (np.sort(labels) == [0, 1, 2]).all()


def test_arrays_mapped_read_only_are_searched_in_place(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    levels = random_tree(rng, (4, 30), 20, 3, kind="float16")
    mapped = []
    for number, level in enumerate(levels):
        for name, array in level.items():
            np.save(tmp_path / f"{number}.{name}.npy", array)
        mapped.append({name: np.load(tmp_path / f"{number}.{name}.npy", mmap_mode="r") for name in level})
    sparse, dense = random_texts(rng, 9, 20, 3)
    options: dict[str, Any] = {"beams": [2], "k": 5}
    expected = kernels.Searcher(levels).search(sparse, dense, **options)
    searcher = kernels.Searcher(mapped)
    del mapped
    assert_same_bits(searcher.search(sparse, dense, **options), expected)
    assert_same_bits(one_by_one(searcher, sparse, dense, **options), expected)


@pytest.mark.parametrize("dims", [0, 5])
def test_threads_and_company_change_nothing(dims: int) -> None:
    rng = np.random.default_rng(7)
    levels = random_tree(rng, (8, 100, 900), 80, dims, density=0.1)
    sparse, dense = random_texts(rng, 150, 80, dims)
    searcher = kernels.Searcher(levels)
    options: dict[str, Any] = {"beams": [5, 9], "k": 10}
    expected = searcher.search(sparse, dense, **options)
    for threads in (2, 3, 7):
        assert_same_bits(searcher.search(sparse, dense, threads=threads, **options), expected)
    for first, last in ((0, 1), (1, 4), (4, 77), (77, 150)):
        rows = slice(first, last)
        some = searcher.search(csr(sparse[rows]), None if dense is None else dense[rows], **options)
        assert_same_bits(some, (expected[0][rows], expected[1][rows]))


BITS = """
import hashlib, sys, numpy as np
sys.path.insert(0, {tests!r})
from test_search import kernels, one_by_one, random_texts, random_tree
rng = np.random.default_rng(19)
levels = random_tree(rng, (5, 40, 300), 60, 6, kind="float16")
texts = random_texts(rng, 20, 60, 6)
searcher, options = kernels.Searcher(levels), dict(beams=[3, 6], k=12, link="sigmoid")
results = (*searcher.search(*texts, **options), *one_by_one(searcher, *texts, **options))
print(hashlib.sha256(b"".join(array.tobytes() for array in results)).hexdigest())
"""


def test_every_instruction_set_gives_the_same_bits() -> None:
    def bits(isa: str) -> str:
        code = BITS.format(tests=str(Path(__file__).parent))
        environment = os.environ | {"TREETOP_ISA": isa, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout

    assert len(bits("")) == 65
    assert bits("generic") == bits("")


def test_no_texts() -> None:
    levels = random_tree(np.random.default_rng(8), (3, 9), 5)
    labels, scores = kernels.Searcher(levels).search(csr(np.zeros((0, 5))), None, beams=[2], k=4, threads=2)
    assert labels.shape == scores.shape == (0, 4)


@pytest.fixture
def heeds_interrupts() -> Iterator[None]:
    """Processes started in the background by a shell ignore SIGINT, and this may be one of them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_search_can_be_interrupted() -> None:
    rng = np.random.default_rng(9)
    levels = random_tree(rng, (50, 2500), 300, density=0.5)
    sparse, _ = random_texts(rng, 400, 300, density=0.9)
    texts = csr(sp.vstack([sparse] * 150))
    searcher = kernels.Searcher(levels)
    main, searches = threading.get_ident(), kernels.Searcher.search.__code__

    def interrupt_the_search() -> None:
        while all(frame.f_code is not searches for frame in frames_of(main)):
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)  # the whole search takes some CPU-seconds

    helper = threading.Thread(target=interrupt_the_search)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        searcher.search(texts, None, beams=[50], k=100)
    helper.join()


def frames_of(thread: int) -> list[FrameType]:
    """What a thread is doing, the innermost call first."""
    frame, found = sys._current_frames().get(thread), []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


@pytest.mark.parametrize("keep", [0, 3])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("link", "combine"), [("l3-hinge", "multiply"), ("sigmoid", "last"), ("noop", "last")])
def test_score_level_equals_the_reference(link: Link, combine: Combine, log: bool, keep: int) -> None:
    rng = np.random.default_rng(13)
    level = random_level(rng, 12, 70, 40, 5)
    sparse, dense = random_texts(rng, 30, 40, 5)
    shortlist = random_csr(rng, 30, 12, 0.3)
    shortlist.data[:] = -np.abs(shortlist.data) if log else rng.random(shortlist.nnz)
    options: dict[str, Any] = {"link": link, "combine": combine, "nodes": 70, "keep": keep, "log": log}
    scores = kernels.score_level(level, sparse, dense, shortlist, threads=2, **options)
    expected = oracle.score_level(level, sparse, dense, shortlist, **options)
    assert scores.has_sorted_indices
    found = np.full(scores.shape, np.nan)
    for i in range(scores.shape[0]):
        row = slice(scores.indptr[i], scores.indptr[i + 1])
        assert (np.diff(scores.indices[row]) > 0).all()
        found[i, scores.indices[row]] = scores.data[row]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)


def test_level_scores_chained_are_the_search() -> None:
    rng = np.random.default_rng(14)
    levels = random_tree(rng, (4, 20, 150), 40)
    sparse, _ = random_texts(rng, 30, 40)
    labels, scores = kernels.Searcher(levels).search(sparse, None, beams=[2, 5], k=150)
    found: CSR | None = None
    for level, nodes, keep in zip(levels, (4, 20, 150), (2, 5, 0), strict=True):
        found = kernels.score_level(level, sparse, None, found, nodes=nodes, keep=keep, log=True)
    assert found is not None
    for i in range(30):
        row = slice(found.indptr[i], found.indptr[i + 1])
        listed = dict(zip(labels[i].tolist(), scores[i].tolist(), strict=True))
        listed.pop(-1, None)
        assert set(listed) == set(found.indices[row].tolist())
        np.testing.assert_allclose(
            [listed[node] for node in found.indices[row].tolist()], np.exp(found.data[row]), rtol=1e-6
        )


def test_impossible_options_are_named() -> None:
    levels = random_tree(np.random.default_rng(15), (3, 9), 5)
    searcher, texts = kernels.Searcher(levels), csr(np.ones((1, 5)))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"beams": [2], "k": 0}, "k is 0"),
        ({"beams": [0], "k": 1}, r"beams \[0\]"),
        ({"beams": [], "k": 1}, "needs 1"),
        ({"beams": [2], "k": 1, "link": "l9-hinge"}, "l9-hinge"),
        ({"beams": [2], "k": 1, "combine": "add"}, "add"),
        ({"beams": [2], "k": 1, "link": "noop"}, "noop"),
        ({"beams": [2], "k": 1, "leaf_link": "noop"}, "noop"),
    ]
    for options, message in wrong:
        with pytest.raises(ConfigError, match=message):
            searcher.search(texts, None, **options)
        with pytest.raises(ConfigError, match=message):
            searcher.search_one(texts.indices, texts.data, **options)
    with pytest.raises(ConfigError, match="threads"):
        searcher.search(texts, None, beams=[2], k=1, threads=0)


def test_features_that_do_not_fit_are_refused() -> None:
    levels = random_tree(np.random.default_rng(16), (3, 9), 5, 2)
    searcher = kernels.Searcher(levels)
    assert searcher.width == 7
    good, dense = csr(np.ones((1, 5))), np.ones((1, 2), np.float32)
    for sparse, block in ((good, None), (csr(np.ones((1, 6))), dense), (None, dense), (good, dense[:, :1])):
        with pytest.raises(DataError, match="columns"):
            searcher.search(sparse, block, beams=[2], k=1)
    with pytest.raises(DataError, match="same texts"):
        searcher.search(good, np.ones((2, 2), np.float32), beams=[2], k=1)
    with pytest.raises(DataError, match="dense"):
        searcher.search_one(good.indices, good.data, beams=[2], k=1)
    with pytest.raises(DataError, match="values"):
        searcher.search_one(good.indices, good.data[:2], dense[0], beams=[2], k=1)


def test_ids_out_of_range_are_refused() -> None:
    levels = random_tree(np.random.default_rng(18), (3, 9), 5)
    searcher, values = kernels.Searcher(levels), np.ones(1, np.float32)
    for feature in (-1, 5, 2**31 - 1):
        texts = csr(np.ones((1, 5)))
        texts.indices[2] = feature
        with pytest.raises(DataError, match=f"feature {feature} "):
            searcher.search(texts, None, beams=[2], k=1)
        with pytest.raises(DataError, match=f"feature {feature} "):
            searcher.search_one(np.array([feature], np.int32), values, beams=[2], k=1)
    shortlist = csr(np.ones((1, 3)))
    shortlist.indices[2] = 3
    with pytest.raises(DataError, match="parent 3 "):
        kernels.score_level(levels[1], csr(np.ones((1, 5))), None, shortlist)


def break_levels(levels: list[dict[str, Any]], number: int, name: str, place: int, value: int) -> list[dict[str, Any]]:
    broken = [dict(level) for level in levels]
    broken[number][name] = broken[number][name].copy()
    broken[number][name][place] = value
    return broken


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    ("name", "value"),
    [("row_feature", -1), ("row_feature", 2**30), ("row_feature", 0), ("entry_ptr", -5), ("entry_ptr", 2**60),
     ("entry_ptr", 0), ("entry_child", 9), ("entry_child", 255)],
)  # fmt: skip
@pytest.mark.parametrize("stored", [True, False], ids=["stored", "plain"])
def test_a_damaged_chunk_is_refused_when_the_search_comes_to_it(
    number: int, name: str, value: int, stored: bool
) -> None:
    levels = random_tree(np.random.default_rng(20), (3, 9), 40, density=0.5)
    if stored:
        levels, value = [narrowed(level) for level in levels], value % 65_536
    place = len(levels[number][name]) // 2
    broken = break_levels(levels, number, name, place, value)
    texts = csr(np.ones((2, 40)))
    searcher = kernels.Searcher(broken, files=[Path("top"), Path("leaf")])
    for _ in range(2):  # it stays refused
        with pytest.raises(StoreError, match=f"{('top', 'leaf')[number]}: .*{name}"):
            searcher.search(texts, None, beams=[3], k=9, threads=2)
        with pytest.raises(StoreError, match=name):
            searcher.search_one(texts.indices[:40], texts.data[:40], beams=[3], k=9)
    shortlist = None if number == 0 else csr(np.ones((2, 3)))
    with pytest.raises(DataError, match=name):
        kernels.score_level(broken[number], texts, None, shortlist)


def test_damage_that_no_search_touches_does_no_harm() -> None:
    levels = random_tree(np.random.default_rng(20), (3, 9), 40, density=0.5)
    searcher = kernels.Searcher(break_levels(levels, 1, "entry_child", 0, 250))
    nothing = csr(np.zeros((2, 40)))
    expected = kernels.Searcher(levels).search(nothing, None, beams=[3], k=9)
    assert_same_bits(one_by_one(searcher, nothing, None, beams=[3], k=9), expected)


def test_many_threads_make_one_directory() -> None:
    rng = np.random.default_rng(21)
    levels = random_tree(rng, (20, 400), 300, density=0.1)
    texts, _ = random_texts(rng, 40, 300)
    expected = kernels.Searcher(levels).search(texts, None, beams=[9], k=5)
    searcher = kernels.Searcher(levels)
    results = []
    many = [
        threading.Thread(target=lambda: results.append(one_by_one(searcher, texts, None, beams=[9], k=5)))
        for _ in range(8)
    ]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join()
    assert len(results) == 8
    for result in results:
        assert_same_bits(result, expected)
