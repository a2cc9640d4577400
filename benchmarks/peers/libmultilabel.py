"""LibMultiLabel's linear tree (Bonsai-like, LIBLINEAR's dual coordinate descent)."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import libmultilabel.linear as linear
import numpy as np

from benchmarks.peers.protocol import DensePeer, Stages, Task, main


class LibMultiLabel(DensePeer):
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

    def scores(self, queries: Any) -> Any:
        return self.model.predict_values(queries, **self.settings["predict"])


if __name__ == "__main__":
    main(LibMultiLabel)
