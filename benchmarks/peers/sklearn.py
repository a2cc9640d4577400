"""scikit-learn: one linear SVM per label (`OneVsRestClassifier`), and its `TfidfVectorizer`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.peers.protocol import DensePeer, Stages, Task, main

DENSE_LIMIT_GIB = 12.0  # its weights are dense: labels × features × 8 bytes


class OneVsRest(DensePeer):
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

    def scores(self, queries: Any) -> Any:
        return self.model.decision_function(queries)

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.occurring[predicted[0]], predicted[1]

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
