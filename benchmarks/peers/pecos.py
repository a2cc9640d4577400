"""PECOS XR-Linear (libpecos).

Prediction is timed only on a model that was saved and loaded with `is_predict_only=True`: on a freshly trained one
`predict` costs about ten times the CPU with the same answers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pecos.utils.featurization.text.vectorizers import Vectorizer
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

from benchmarks.peers.protocol import Peer, Stages, Task, from_csr, main


class Pecos(Peer):
    packages = ("libpecos", "numpy", "scipy")

    def train(self, task: Task, stages: Stages) -> None:
        features, labels = task.train_features, task.train_labels.tocsc()
        with stages("pifa"):
            representation = LabelEmbeddingFactory.create(labels, features, method="pifa", threads=self.threads)
        with stages("tree"):
            chain = Indexer.gen(representation, threads=self.threads, seed=self.seed, **self.settings["tree"])
        with stages("train"):
            self.model = XLinearModel.train(features, labels, C=chain, threads=self.threads, **self.settings["train"])

    def save(self, folder: Path) -> None:
        self.model.save(str(folder))

    def load(self, folder: Path) -> None:
        self.model = XLinearModel.load(str(folder), is_predict_only=True, **self.settings.get("load", {}))

    def predict(self, queries: Any, k: int) -> Any:
        return self.model.predict(queries, only_topk=k, threads=self.threads, **self.settings["predict"])

    def predict_one(self, query: Any, k: int) -> Any:
        return self.model.predict(query, only_topk=k, threads=1, **self.settings["predict"])

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return from_csr(predicted)

    def vectorise(self, task: Task, stages: Stages) -> dict[str, Any]:
        train, test = task.texts("trn"), task.texts("tst")
        config = {"type": "tfidf", "kwargs": {"base_vect_configs": [dict(self.settings["tfidf"])]}}
        with stages("fit_transform"):
            vectorizer = Vectorizer.train(train, config, dtype=np.float32)  # it empties the dict it is given
            features = vectorizer.predict(train, threads=self.threads)
        with stages("transform"):
            vectorizer.predict(test, threads=self.threads)
        return {"features": features.shape[1], "stored": int(features.nnz)}


if __name__ == "__main__":
    main(Pecos)
