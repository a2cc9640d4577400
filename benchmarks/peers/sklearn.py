"""scikit-learn: one linear SVM per label (`OneVsRestClassifier`), and its `TfidfVectorizer`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.peers.protocol import Peer, Stages, Task, from_scores, main

CHUNK = 500  # texts at once: it returns a score for every label, which must fit into memory
DENSE_LIMIT_GIB = 12.0  # its weights are dense: labels × features × 8 bytes


class OneVsRest(Peer):
    packages = ("scikit-learn", "numpy", "scipy")

    def train(self, task: Task, stages: Stages) -> None:
        features = task.train_features.astype(np.float64)
        self.occurring = np.flatnonzero(task.train_labels.getnnz(axis=0))  # a label without texts would get score 0
        labels = task.train_labels[:, self.occurring].astype(np.int64)  # with int8, labels 256 apart are mixed up
        gib = labels.shape[1] * features.shape[1] * 8 / 2**30
        if gib > DENSE_LIMIT_GIB:
            raise MemoryError(f"its dense weights would need {gib:.0f} GiB")
        classifier = LinearSVC(random_state=self.seed, **self.settings["train"])
        self.model = OneVsRestClassifier(classifier, n_jobs=self.threads)
        with stages("train"), joblib.parallel_config("threading"):
            self.model.fit(features, labels)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        joblib.dump((self.model, self.occurring), folder / "model.joblib")

    def load(self, folder: Path) -> None:
        self.model, self.occurring = joblib.load(folder / "model.joblib")

    def queries(self, rows: Any) -> Any:
        return rows.astype(np.float64)

    def one(self, rows: Any, row: int) -> Any:
        return rows[row : row + 1].astype(np.float64)

    def predict(self, queries: Any, k: int) -> Any:
        parts = [self._chunk(queries[row : row + CHUNK], k) for row in range(0, queries.shape[0], CHUNK)]
        return [np.vstack(columns) for columns in zip(*parts, strict=True)]

    def _chunk(self, queries: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        columns, scores = from_scores(self.model.decision_function(queries), k)
        return self.occurring[columns], scores

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return predicted[0], predicted[1]

    def vectorise(self, task: Task, stages: Stages) -> dict[str, Any]:
        train, test = task.texts("trn"), task.texts("tst")
        vectorizer = TfidfVectorizer(dtype=np.float32, **self.settings["tfidf"])
        with stages("fit_transform"):
            features = vectorizer.fit_transform(train)
        with stages("transform"):
            vectorizer.transform(test)
        return {"features": features.shape[1], "stored": int(features.nnz)}


if __name__ == "__main__":
    main(OneVsRest)
