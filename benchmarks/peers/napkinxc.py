"""napkinXC: probabilistic label trees in C++. The model folder is written while training."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from napkinxc.models import PLT

from benchmarks.peers.protocol import Peer, Stages, Task, from_lists, main


class NapkinXC(Peer):
    packages = ("napkinxc", "numpy", "scipy")

    def train(self, task: Task, stages: Stages) -> None:
        self.written = tempfile.mkdtemp()
        features, labels = task.train_features, task.train_labels
        with stages("train"):
            PLT(self.written, threads=self.threads, seed=self.seed, **self.settings).fit(features, labels)

    def save(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(self.written, folder)

    def load(self, folder: Path) -> None:
        self.model = PLT(str(folder), threads=self.threads, **self.settings)
        self.model.load()

    def predict(self, queries: Any, k: int) -> Any:
        return self.model.predict_proba(queries, top_k=k)

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return from_lists(predicted)


if __name__ == "__main__":
    main(NapkinXC)
