"""omikuji: Parabel and Bonsai in Rust. It reads the XMC text format and predicts one text at a time; it has no seed."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import omikuji

from benchmarks.peers.protocol import Peer, Stages, Task, from_lists, main


class Omikuji(Peer):
    packages = ("omikuji", "numpy", "scipy")

    def train(self, task: Task, stages: Stages) -> None:
        settings = omikuji.Model.default_hyper_param()
        for name, value in self.settings.get("train", {}).items():
            setattr(settings, name, value)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            with stages("convert"):
                write_xmc(path, task)
            with stages("train"):
                self.model = omikuji.Model.train_on_data(str(path), settings, self.threads)

    def save(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)  # it appends to a folder that is not empty
        self.model.save(str(folder))

    def load(self, folder: Path) -> None:
        self.model = omikuji.Model.load(str(folder))
        self.model.init_prediction_thread_pool(self.threads)

    def queries(self, rows: Any) -> list[list[tuple[int, float]]]:
        return [self.one(rows, row) for row in range(rows.shape[0])]

    def one(self, rows: Any, row: int) -> list[tuple[int, float]]:
        span = slice(rows.indptr[row], rows.indptr[row + 1])
        return list(zip(rows.indices[span].tolist(), rows.data[span].tolist(), strict=True))

    def predict(self, queries: list[list[tuple[int, float]]], k: int) -> Any:
        return [self.predict_one(query, k) for query in queries]

    def predict_one(self, query: list[tuple[int, float]], k: int) -> Any:
        return self.model.predict(query, top_k=k, **self.settings.get("predict", {}))

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return from_lists(predicted)


def write_xmc(path: Path, task: Task) -> None:
    """The XMC repository's text format: a header, then `label,label feature:value …` per text."""
    x, y = task.train_features, task.train_labels
    with path.open("w") as file:
        file.write(f"{x.shape[0]} {x.shape[1]} {y.shape[1]}\n")
        for row in range(x.shape[0]):
            span = slice(x.indptr[row], x.indptr[row + 1])
            labels = ",".join(map(str, y.indices[y.indptr[row] : y.indptr[row + 1]].tolist()))
            pairs = zip(x.indices[span].tolist(), x.data[span].tolist(), strict=True)
            file.write(labels + " " + " ".join(f"{feature}:{value:.7g}" for feature, value in pairs) + "\n")


if __name__ == "__main__":
    main(Omikuji)
