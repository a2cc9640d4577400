"""fastText (the NumPy 2 build): linear on averaged word vectors, one-vs-all or hierarchical softmax."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import fasttext
import numpy as np

from benchmarks.peers.protocol import Peer, Stages, Task, from_lists, main

WORD = re.compile(r"\w+")
PREFIX = "__label__"


class FastText(Peer):
    packages = ("fasttext-numpy2", "numpy")
    input = "texts"

    def train(self, task: Task, stages: Stages) -> None:
        texts = self.queries(task.texts("trn"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            with stages("convert"):
                write_labelled(path, texts, task)
            with stages("train"):
                self.model = fasttext.train_supervised(
                    str(path), thread=self.threads, seed=self.seed, verbose=0, **self.settings
                )

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_model(str(folder / "model.bin"))

    def load(self, folder: Path) -> None:
        self.model = fasttext.load_model(str(folder / "model.bin"))

    def queries(self, rows: list[str]) -> list[str]:
        return [" ".join(WORD.findall(text.lower())) for text in rows]

    def one(self, rows: list[str], row: int) -> str:
        return self.queries(rows[row : row + 1])[0]

    def predict(self, queries: list[str], k: int) -> Any:
        return self.model.predict(queries, k=k)

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        rows = [
            [(int(name.removeprefix(PREFIX)), float(score)) for name, score in zip(*row, strict=True)]
            for row in zip(*predicted, strict=True)
        ]
        if not any(rows):
            raise ArithmeticError("it predicts nothing for any text (its weights are NaN)")
        return from_lists(rows)


def write_labelled(path: Path, texts: list[str], task: Task) -> None:
    """fastText's training format: `__label__3 __label__17 the words of the text`."""
    y = task.train_labels
    with path.open("w", encoding="utf-8") as file:
        for row, text in enumerate(texts):
            names = (f"{PREFIX}{label}" for label in y.indices[y.indptr[row] : y.indptr[row + 1]].tolist())
            file.write(" ".join(names) + " " + text + "\n")


if __name__ == "__main__":
    main(FastText)
