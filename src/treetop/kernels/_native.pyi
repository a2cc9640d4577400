import numpy as np
from numpy.typing import NDArray

def pifa(
    member_start: NDArray[np.int64],
    member_text: NDArray[np.int32],
    member_weight: NDArray[np.float32],
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    columns: int,
    normalise: bool,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
def kmeans_tree(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    columns: int,
    dense: NDArray[np.float32],
    depth: int,
    max_iter: int,
    tolerance: float,
    spherical: bool,
    seed: int,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def kmeans_split(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    columns: int,
    dense: NDArray[np.float32],
    order: NDArray[np.int32],
    bounds: NDArray[np.int64],
    ways: int,
    level: int,
    max_iter: int,
    tolerance: float,
    spherical: bool,
    seed: int,
    threads: int,
) -> NDArray[np.int32]: ...
