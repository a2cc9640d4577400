"""LibMultiLabel's linear tree (Bonsai-like, LIBLINEAR's dual coordinate descent)."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import libmultilabel.linear as linear
import numpy as np

from benchmarks.peers.protocol import Peer, Stages, Task, from_scores, main

CHUNK = 500  # texts at once: it returns a score for every label, which must fit into memory


class LibMultiLabel(Peer):
    packages = ("libmultilabel", "liblinear-multicore", "numpy", "scipy")

    def train(self, task: Task, stages: Stages) -> None:
        np.random.seed(self.seed)  # noqa: NPY002 — the only way to seed its clustering
        features, labels = task.train_features.astype(np.float64), task.train_labels.astype(np.int64)
        with stages("train"):
            self.model = linear.train_tree(labels, features, verbose=False, **self.settings["train"])

    def save(self, folder: Path) -> None:
        linear.save_pipeline(str(folder), None, self.model)

    def load(self, folder: Path) -> None:
        with (folder / "linear_pipeline.pickle").open("rb") as file:
            self.model = pickle.load(file)["model"]

    def queries(self, rows: Any) -> Any:
        return rows.astype(np.float64)

    def one(self, rows: Any, row: int) -> Any:
        return rows[row : row + 1].astype(np.float64)

    def predict(self, queries: Any, k: int) -> Any:
        parts = [self._chunk(queries[row : row + CHUNK], k) for row in range(0, queries.shape[0], CHUNK)]
        return [np.vstack(columns) for columns in zip(*parts, strict=True)]

    def _chunk(self, queries: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        return from_scores(self.model.predict_values(queries, **self.settings["predict"]), k)

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return predicted[0], predicted[1]


if __name__ == "__main__":
    main(LibMultiLabel)
