"""Annif's omikuji backend: the same learner behind a complete subject indexing tool, from texts, with its own tf-idf.

Its tokeniser needs NLTK's `punkt_tab`, which cannot be downloaded everywhere; the `llama-index-core` wheel carries it.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

os.environ["NLTK_DATA"] = str(Path(sysconfig.get_path("purelib")) / "llama_index/core/_static/nltk_cache")

from annif.corpus import Document, DocumentList, SubjectSet
from annif.registry import AnnifRegistry
from annif.vocab.subject_file import VocabFileTSV

from benchmarks.peers.protocol import Peer, Stages, Task, from_csr, main

PROJECT = """[labels]
name=labels
language=en
backend=omikuji
analyzer=simple
vocab=labels
limit=10
"""


class Annif(Peer):
    packages = ("annif", "omikuji", "scikit-learn", "numpy")
    input = "texts"

    def train(self, task: Task, stages: Stages) -> None:
        self.home = Path(tempfile.mkdtemp())
        with stages("convert"):
            project = self._project(self.home, labels=task.train_labels.shape[1])
            documents = [Document(text, SubjectSet(rows)) for text, rows in zip(*_pairs(task), strict=True)]
        with stages("train"):
            project.train(DocumentList(documents), jobs=self.threads)

    def _project(self, home: Path, labels: int | None = None) -> Any:
        """The one project of a home folder; with `labels`, a new one with that many subjects."""
        if labels is not None:
            settings = "".join(f"{name}={value}\n" for name, value in self.settings.items())
            (home / "projects.cfg").write_text(PROJECT + settings)
            rows = (f"<http://label/{label}>\tlabel {label}\n" for label in range(labels))
            (home / "labels.tsv").write_text("".join(rows))
        registry = AnnifRegistry(str(home / "projects.cfg"), str(home / "data"), init_projects=False)
        if labels is not None:
            registry.get_vocab("labels").load_vocabulary(VocabFileTSV(str(home / "labels.tsv"), "en"))
        return registry.get_project("labels")

    def save(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(self.home, folder)

    def load(self, folder: Path) -> None:
        self.project = self._project(folder)
        self.project.initialize()

    def queries(self, rows: list[str]) -> list[Document]:
        return [Document(text) for text in rows]

    def one(self, rows: list[str], row: int) -> list[Document]:
        return self.queries(rows[row : row + 1])

    def predict(self, queries: list[Document], k: int) -> Any:
        return self.project.suggest(queries, {"omikuji": {"limit": k}})

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return from_csr(predicted.array)


def _pairs(task: Task) -> tuple[list[str], list[list[int]]]:
    y = task.train_labels
    rows = [y.indices[y.indptr[row] : y.indptr[row + 1]].tolist() for row in range(y.shape[0])]
    return task.texts("trn"), rows


if __name__ == "__main__":
    main(Annif)
