from __future__ import annotations

import itertools
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack, random_array
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from treetop import kernels
from treetop.errors import ConfigError, DataError
from treetop.kernels import NodeWeights, TrainingFeatures
from treetop.kernels.reference import train as reference
from treetop.types import CSR, Dense

TIGHT: dict[str, Any] = {"eps": 1e-4, "max_iter": 2000, "threshold": 0.0}
LOSSES = ["squared_hinge", "logistic"]


def train_nodes(*, sparse: CSR | None, dense: Dense | None, **arguments: Any) -> NodeWeights:
    return kernels.train_nodes(TrainingFeatures(sparse, dense), **arguments)


def lists(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    pointer = np.cumsum([0] + [len(row) for row in rows], dtype=np.int64)
    return pointer, np.array([i for row in rows for i in sorted(row)], dtype=np.int32)


def problem(
    children: list[int],
    *,
    texts: int = 40,
    width: int = 30,
    dims: int = 0,
    seed: int = 0,
    shortlisted_share: float = 0.7,
    outside: bool = True,
) -> dict[str, Any]:
    """Random features; `children` = how many children each parent has. Every third node has no positives."""
    rng = np.random.default_rng(seed)
    sparse = csr_array(random_array((texts, width), density=0.2, rng=rng, dtype=np.float32)) if width else None
    dense = rng.normal(size=(texts, dims)).astype(np.float32) if dims else None
    shortlisted = [np.flatnonzero(rng.random(texts) < shortlisted_share).tolist() for _ in children]
    positive = []
    for parent, count in enumerate(children):
        pool = np.arange(texts) if outside else np.array(shortlisted[parent], dtype=np.int64)
        for j in range(count):
            size = 0 if j % 3 == 2 else int(rng.integers(1, max(2, len(pool) // 3)))
            positive.append(rng.choice(pool, size=min(size, len(pool)), replace=False).tolist())
    result: dict[str, Any] = {"sparse": sparse, "dense": dense, "children": np.arange(sum(children), dtype=np.int32)}
    result["children_ptr"] = np.cumsum([0, *children], dtype=np.int64)
    result["shortlisted_ptr"], result["shortlisted"] = lists(shortlisted)
    result["positive_ptr"], result["positive"] = lists(positive)
    return result


def as_matrix(weights: NodeWeights) -> np.ndarray:
    dense = np.zeros((len(weights.bias), 0)) if weights.dense is None else weights.dense
    return np.hstack([weights.sparse.toarray(), dense, weights.bias[:, None]])


def objectives(weights: NodeWeights, arguments: dict[str, Any], *, loss: str, bias: float = 1.0) -> np.ndarray:
    """The primal objective of each node with positives, all costs and C being 1."""
    x = reference.all_features(arguments["sparse"], arguments["dense"], bias)
    w = as_matrix(weights).astype(np.float64)
    w[:, -1] /= bias or 1.0
    result = []
    for parent in range(len(arguments["children_ptr"]) - 1):
        shortlisted = arguments["shortlisted"][slice(*arguments["shortlisted_ptr"][parent : parent + 2])]
        for j in range(*arguments["children_ptr"][parent : parent + 2]):
            own = arguments["positive"][slice(*arguments["positive_ptr"][j : j + 2])]
            if len(own):
                texts, y, c = reference.node_problem(shortlisted, np.ones(len(shortlisted)), own, np.ones(len(own)))
                result.append(reference.objective(w[j], x[texts], y, c, loss))
    return np.array(result)


def assert_same(native: NodeWeights, twin: NodeWeights, tolerance: float = 2e-3) -> None:
    np.testing.assert_allclose(as_matrix(native), as_matrix(twin), atol=tolerance)


# ---- against the reference


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("count", [*range(1, 18), 24, 25, 31, 33, 40])
def test_any_number_of_children(count: int, loss: Any) -> None:
    arguments = problem([count], texts=25, width=20, seed=count)
    assert_same(
        train_nodes(**arguments, loss=loss, **TIGHT),
        reference.train_nodes(**arguments, loss=loss, **TIGHT | {"max_iter": 300}),
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("width", "dims"), [(30, 0), (0, 7), (30, 7), (30, 1)])
def test_feature_blocks(width: int, dims: int, loss: Any) -> None:
    arguments = problem([5, 1, 9], width=width, dims=dims, seed=dims)
    native, twin = (train(**arguments, loss=loss, **TIGHT) for train in (train_nodes, reference.train_nodes))
    assert (native.dense is None) == (dims == 0)
    assert native.sparse.shape == (15, width)
    assert_same(native, twin)


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_at_usual_tolerance(loss: Any) -> None:
    arguments = problem([20, 6], texts=80, width=60, seed=3)
    options: dict[str, Any] = {"loss": loss, "eps": 0.01, "threshold": 0.0, "max_iter": 1000}
    native, twin = (train(**arguments, **options) for train in (train_nodes, reference.train_nodes))
    np.testing.assert_allclose(
        objectives(native, arguments, loss=loss), objectives(twin, arguments, loss=loss), rtol=1e-3
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [0.0, 0.5, 2.0])
def test_bias(bias: float, loss: Any) -> None:
    arguments = problem([4], seed=5)
    native, twin = (train(**arguments, loss=loss, bias=bias, **TIGHT) for train in (train_nodes, reference.train_nodes))
    assert_same(native, twin)
    assert bias or set(native.bias) == {0.0, reference.NEVER}


@pytest.mark.parametrize("loss", LOSSES)
def test_costs(loss: Any) -> None:
    arguments = problem([7, 40], seed=6, width=25)
    rng = np.random.default_rng(6)
    for name, ids in (("positive_cost", "positive"), ("negative_cost", "shortlisted")):
        cost = rng.uniform(0.1, 3, size=len(arguments[ids])).astype(np.float32)
        cost[rng.random(len(cost)) < 0.2] = 0
        arguments[name] = cost
    options: dict[str, Any] = {"loss": loss, "c_positive": 2.0, "c_negative": 0.5, **TIGHT}
    assert_same(train_nodes(**arguments, **options), reference.train_nodes(**arguments, **options))


def test_costs_equal_repeated_texts() -> None:
    """A text of cost 3 counts like three copies of it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 4)).astype(np.float32)
    once: dict[str, Any] = {
        "sparse": None,
        "dense": x,
        "children_ptr": np.array([0, 1]),
        "children": np.zeros(1, np.int32),
    }
    once["shortlisted_ptr"], once["shortlisted"] = lists([list(range(12))])
    once["positive_ptr"], once["positive"] = lists([[0, 5]])
    costly = {**once, "positive_cost": np.array([1, 3], np.float32), "negative_cost": np.ones(12, np.float32)}
    costly["negative_cost"][7] = 2
    copies = {**once, "dense": np.vstack([x, x[[5, 5, 7]]])}
    copies["shortlisted_ptr"], copies["shortlisted"] = lists([list(range(15))])
    copies["positive_ptr"], copies["positive"] = lists([[0, 5, 12, 13]])
    assert_same(train_nodes(**costly, **TIGHT), train_nodes(**copies, **TIGHT))


# ---- adversarial shapes


@pytest.mark.parametrize("loss", LOSSES)
def test_odd_shapes(loss: Any) -> None:
    arguments = problem([3, 0, 2, 4, 1, 2], texts=10, width=8)
    sparse = arguments["sparse"].toarray()
    sparse[[0, 4]] = 0  # texts without features
    sparse[:, 3] = 0  # a feature nobody has
    arguments["sparse"] = csr_array(sparse)
    everyone = list(range(10))
    arguments["shortlisted_ptr"], arguments["shortlisted"] = lists([everyone, [1, 2], [], [3], everyone, [0, 4]])
    arguments["positive_ptr"], arguments["positive"] = lists(
        [
            everyone,  # all positive
            [0],  # only a text without features
            [],
            [2, 5],  # no competitors at all
            [],
            [3],  # a single text, positive
            [1],  # outside, against a single competitor
            [],
            [3, 9],
            [0, 1, 2, 3, 4],
            [0],
            [4],
        ]
    )
    native, twin = (train(**arguments, loss=loss, **TIGHT) for train in (train_nodes, reference.train_nodes))
    assert_same(native, twin)
    assert native.bias[2] == native.bias[4] == native.bias[7] == reference.NEVER
    assert native.sparse[[2, 4, 7]].nnz == 0


def test_nothing_to_train() -> None:
    empty = train_nodes(**problem([], texts=5))
    assert empty.sparse.shape == (0, 30)
    assert empty.bias.shape == (0,)
    arguments = problem([2], texts=5)
    arguments["positive_ptr"], arguments["positive"] = lists([[], []])
    lonely = train_nodes(**arguments)
    assert lonely.sparse.nnz == 0
    assert (lonely.bias == reference.NEVER).all()


def test_positives_outside_the_shortlist_do_not_touch_siblings() -> None:
    arguments = problem([2], seed=1, outside=False)
    inside = np.unique(arguments["shortlisted"])
    outsider = int(np.setdiff1d(np.arange(40), inside)[0])
    own = [arguments["positive"][slice(*arguments["positive_ptr"][j : j + 2])].tolist() for j in range(2)]
    alone = train_nodes(**arguments, **TIGHT)
    arguments["positive_ptr"], arguments["positive"] = lists([[*own[0], outsider], own[1]])
    joined = train_nodes(**arguments, **TIGHT)
    np.testing.assert_allclose(as_matrix(joined)[1], as_matrix(alone)[1], atol=1e-3)
    assert np.abs(as_matrix(joined)[0] - as_matrix(alone)[0]).max() > 0.01


def test_stored_zeros_and_negative_features() -> None:
    arguments = problem([6], seed=2)
    sparse = arguments["sparse"]
    sparse.data[::7] = 0
    sparse.data[1::5] *= -1
    assert_same(train_nodes(**arguments, **TIGHT), reference.train_nodes(**arguments, **TIGHT))


@pytest.mark.parametrize("loss", LOSSES)
def test_more_shared_features_than_16_bits_can_number(loss: Any) -> None:
    arguments = problem([3, 20], texts=12)
    few = train_nodes(**arguments, loss=loss, **TIGHT)
    wide = 2**16
    columns = np.tile(np.arange(wide, dtype=np.int32), 12)
    zeros = csr_array((np.zeros(12 * wide, np.float32), columns, np.arange(13, dtype=np.int32) * wide), (12, wide))
    arguments["sparse"] = hstack([zeros, arguments["sparse"]], format="csr", dtype=np.float32)
    assert arguments["sparse"].nnz > 12 * wide  # the most frequent features: the others get the highest numbers
    many = train_nodes(**arguments, loss=loss, **TIGHT)
    np.testing.assert_allclose(many.sparse[:, wide:].toarray(), few.sparse.toarray(), atol=1e-3)
    np.testing.assert_allclose(many.bias, few.bias, atol=1e-3)


# ---- pruning


def test_threshold_and_most_weights() -> None:
    arguments = problem([6], seed=4, width=60)
    full = train_nodes(**arguments, threshold=0.0).sparse.toarray()
    kept = train_nodes(**arguments, threshold=0.2).sparse
    np.testing.assert_array_equal(kept.toarray(), np.where(np.abs(full) >= 0.2, full, 0))
    few = train_nodes(**arguments, threshold=0.0, max_weights=3)
    np.testing.assert_array_equal(few.sparse.toarray(), reference.prune(full, 0.0, 3))
    assert np.diff(few.sparse.indptr).tolist() == [3, 3, 0, 3, 3, 0]
    assert kept.has_sorted_indices


def test_ties_at_the_limit_keep_the_first_features() -> None:
    arguments = problem([1], texts=2, width=4)
    arguments["sparse"] = csr_array(np.array([[1, 1, 1, 1], [0, 0, 0, 0]], np.float32))
    arguments["shortlisted_ptr"], arguments["shortlisted"] = lists([[0, 1]])
    arguments["positive_ptr"], arguments["positive"] = lists([[0]])
    assert train_nodes(**arguments, max_weights=2).sparse.indices.tolist() == [0, 1]


# ---- other libraries


def one_node(seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    arguments = problem([1], texts=120, width=40, seed=seed, shortlisted_share=1.0)
    y = np.full(120, -1)
    y[arguments["positive"]] = 1
    return arguments, y


def test_agrees_with_linear_svc() -> None:
    arguments, y = one_node()
    svc = LinearSVC(loss="squared_hinge", dual=True, C=0.7, tol=1e-6, max_iter=100_000, intercept_scaling=1.0)
    svc.fit(arguments["sparse"], y)
    ours = train_nodes(**arguments, c_positive=0.7, c_negative=0.7, **TIGHT)
    np.testing.assert_allclose(ours.sparse.toarray()[0], svc.coef_[0], atol=1e-3)
    np.testing.assert_allclose(ours.bias, svc.intercept_, atol=1e-3)


def test_agrees_with_logistic_regression() -> None:
    arguments, y = one_node(1)
    regression = LogisticRegression(C=2.0, solver="liblinear", tol=1e-8, max_iter=10_000, intercept_scaling=1.0)
    regression.fit(arguments["sparse"], y)
    ours = train_nodes(**arguments, loss="logistic", c_positive=2.0, c_negative=2.0, **TIGHT)
    np.testing.assert_allclose(ours.sparse.toarray()[0], regression.coef_[0], atol=1e-3)
    np.testing.assert_allclose(ours.bias, regression.intercept_, atol=1e-3)


# ---- same result however it is computed


def bits(weights: NodeWeights) -> list[bytes]:
    dense = b"" if weights.dense is None else weights.dense.tobytes()
    matrix = weights.sparse
    return [matrix.indptr.tobytes(), matrix.indices.tobytes(), matrix.data.tobytes(), dense, weights.bias.tobytes()]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("children", [[70], [3, 40, 1, 17], [2] * 30])
def test_thread_count_does_not_matter(children: list[int], loss: Any) -> None:
    arguments = problem(children, texts=100, width=80, dims=3, seed=8)
    one, two, many = (train_nodes(**arguments, loss=loss, threads=threads) for threads in (1, 2, 5))
    assert bits(one) == bits(two) == bits(many)


def test_seed_changes_the_order_only() -> None:
    arguments = problem([9], texts=60, seed=9)
    first, second = (train_nodes(**arguments, seed=seed, eps=0.01, threshold=0.0) for seed in (0, 1))
    assert bits(first) != bits(second)
    assert_same(first, second, 0.05)


SAVE = """
import pickle, sys
import numpy as np
from treetop.kernels import TrainingFeatures, _native, train_nodes
with open(sys.argv[1], "rb") as file:
    arguments = pickle.load(file)
features = TrainingFeatures(arguments.pop("sparse"), arguments.pop("dense"))
found = {}
for loss in ("squared_hinge", "logistic"):
    weights = train_nodes(features, **arguments, loss=loss, eps=1e-3, max_iter=1000, threshold=0.0)
    found[loss] = np.hstack([weights.sparse.toarray(), weights.dense, weights.bias[:, None]])
np.savez(sys.argv[2], isa=_native.isa(), **found)
"""


def saved_with(isa: str, folder: Path) -> Any:
    (folder / "arguments").write_bytes(pickle.dumps(problem([3, 21, 40], texts=120, width=90, dims=5, seed=11)))
    command = [sys.executable, "-c", SAVE, str(folder / "arguments"), str(folder / f"{isa}.npz")]
    environment = {**os.environ, "TREETOP_ISA": isa}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "not supported by this processor" in done.stderr:
        pytest.skip(f"no {isa} here")
    assert done.returncode == 0, done.stderr
    return np.load(folder / f"{isa}.npz")


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_instruction_sets_agree(isa: str, tmp_path: Path) -> None:
    fast, plain = saved_with(isa, tmp_path), saved_with("generic", tmp_path)
    assert (str(fast["isa"]), str(plain["isa"])) == (isa, "generic")
    for loss in LOSSES:
        np.testing.assert_allclose(fast[loss], plain[loss], atol=5e-3)


def test_unknown_instruction_set() -> None:
    code = "from treetop.kernels import _native; _native.isa()"
    environment = {**os.environ, "TREETOP_ISA": "mmx"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "TREETOP_ISA=mmx" in done.stderr


# ---- interruption

FOREVER = """
import signal
import numpy as np
from scipy.sparse import random_array
from treetop.kernels import TrainingFeatures, train_nodes
texts, nodes = 20_000, 64
rng = np.random.default_rng(0)
x = random_array((texts, 3000), density=0.02, rng=rng, dtype=np.float32, format="csr")
positive = [np.sort(rng.choice(texts, 5000, replace=False)) for _ in range(nodes)]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have switched it off
print("ready", flush=True)
train_nodes(
    TrainingFeatures(x, None), children_ptr=np.array([0, nodes]), children=np.arange(nodes, dtype=np.int32),
    shortlisted_ptr=np.array([0, texts]), shortlisted=np.arange(texts, dtype=np.int32),
    positive_ptr=np.arange(nodes + 1) * 5000, positive=np.concatenate(positive).astype(np.int32),
    eps=1e-9, max_iter=10**6, threads=2,
)
"""


def test_ctrl_c_interrupts() -> None:
    child = subprocess.Popen([sys.executable, "-c", FOREVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    try:
        _, errors = child.communicate(timeout=300)
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


# ---- progress


def test_progress_counts_the_nodes_that_have_positives() -> None:
    told: list[int] = []
    arguments = problem([70, 1, 5], texts=300, width=200)
    weights = train_nodes(**arguments, progress=told.append)
    assert sum(told) == np.count_nonzero(np.diff(arguments["positive_ptr"]))
    assert_same(weights, train_nodes(**arguments, threads=2))
    train_nodes(**problem([]), progress=told.append)


def test_an_error_in_progress_ends_the_training() -> None:
    def fail(nodes: int) -> None:
        raise RuntimeError(f"{nodes} nodes were told")

    with pytest.raises(RuntimeError, match="nodes were told"):
        train_nodes(**problem([70]), progress=fail)


# ---- wrong arguments


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sparse": None}, "at least one block"),
        ({"shortlisted": np.array([99], np.int32), "shortlisted_ptr": np.array([0, 1])}, "holds 99"),
        ({"shortlisted": np.array([2, 1], np.int32), "shortlisted_ptr": np.array([0, 2])}, "not strictly ascending"),
        ({"shortlisted_ptr": np.array([0, 10**6])}, "shortlisted_ptr does not cut shortlisted"),
        (
            {"shortlisted_ptr": np.array([0, 1, 1]), "shortlisted": np.array([1], np.int32)},
            "shortlisted_ptr has 3 entries",
        ),
        ({"positive": np.zeros(3, np.int64)}, "positive is int64"),
        ({"positive_cost": np.ones(1, np.float32)}, "positive_cost"),
        ({"dense": np.zeros((3, 2), np.float32)}, "40 rows but dense ones 3"),
        ({"dense": np.zeros((40, 2), np.float64)}, "dense features are float64"),
    ],
)
def test_wrong_arrays(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        train_nodes(**{**problem([2], seed=1), **change})


@pytest.mark.parametrize("costs", [np.nan, -1.0, np.inf])
def test_wrong_costs(costs: float) -> None:
    arguments = problem([2])
    with pytest.raises(DataError, match="finite and >= 0"):
        train_nodes(**arguments, negative_cost=np.full(len(arguments["shortlisted"]), costs, np.float32))


@pytest.mark.parametrize(
    "change",
    [{"loss": "hinge"}, {"eps": 0}, {"c_positive": -1}, {"max_iter": 0}, {"threshold": np.nan}, {"max_weights": -1}],
)
def test_wrong_settings(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(change))):
        train_nodes(**problem([2]), **change)


def test_weights_are_a_value() -> None:
    weights = train_nodes(**problem([2]))
    with pytest.raises(AttributeError):
        weights.bias = weights.bias  # type: ignore[misc]


# ---- parts of a level


def part(whole: dict[str, Any], first: int, last: int, *, own_rows: bool) -> dict[str, Any]:
    """The problem of parents [first, last); with `own_rows` on their texts alone, numbered anew."""
    low, high = (int(whole["children_ptr"][at]) for at in (first, last))
    result = {"children": whole["children"][low:high], "children_ptr": whole["children_ptr"][first : last + 1] - low}
    for name, start, end in (("shortlisted", first, last), ("positive", low, high)):
        pointer = whole[f"{name}_ptr"]
        result[name] = whole[name][pointer[start] : pointer[end]]
        result[f"{name}_ptr"] = pointer[start : end + 1] - pointer[start]
    rows = np.arange(whole["dense"].shape[0])
    if own_rows:
        rows = np.unique(np.concatenate([result["shortlisted"], result["positive"]]))
        for name in ("shortlisted", "positive"):
            result[name] = np.searchsorted(rows, result[name]).astype(np.int32)
    cost = kernels.training_cost(whole["children_ptr"], whole["shortlisted_ptr"], whole["positive_ptr"])
    blocks = {"sparse": whole["sparse"][rows], "dense": np.ascontiguousarray(whole["dense"][rows])}
    return {**result, **blocks, "first_child": low, "level_cost": cost}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("own_rows", [False, True])
@pytest.mark.parametrize("cuts", [tuple(range(22)), (0, 2, 3, 21), (0, 20, 21)])
def test_a_level_trained_in_parts_has_the_same_bits(cuts: tuple[int, ...], own_rows: bool, loss: Any) -> None:
    # Of the whole only the first parent is cut into pieces; on their own the next ones would be as well.
    arguments = problem([90, *[50] * 18, 1, 5], texts=60, width=40, dims=3, shortlisted_share=0.3, seed=9)
    whole = as_matrix(train_nodes(**arguments, loss=loss, seed=4))
    pieces = [part(arguments, first, last, own_rows=own_rows) for first, last in itertools.pairwise(cuts)]
    parts = np.vstack([as_matrix(train_nodes(**piece, loss=loss, seed=4)) for piece in pieces])
    np.testing.assert_array_equal(parts, whole)
