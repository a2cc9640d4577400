"""treetop's methods, through their public names."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks.peers.protocol import Peer, Stages, Task, main, tuning
from treetop.data import Corpus, Dataset, LabelSpace
from treetop.labels import grow_tree, pifa
from treetop.methods import load, method_class
from treetop.methods.resolving import resolve
from treetop.predictions import Predictions
from treetop.runtime import Runtime
from treetop.text import Tfidf, TfidfConfig


class Treetop(Peer):
    packages = ("treetop", "numpy", "scipy")
    step: dict[str, dict[str, float]] = {}  # noqa: RUF012 — replaced, never changed
    chosen: dict[str, Any] = {}  # noqa: RUF012 — likewise

    @property
    def input(self) -> str:  # type: ignore[override]
        return "texts" if self.settings.get("texts") else "features"

    @property
    def runtime(self) -> Runtime:
        return Runtime(seed=self.seed, threads=self.threads)

    def train(self, task: Task, stages: Stages) -> None:
        data = as_dataset(task, texts=self.input == "texts")
        if self.settings["method"] == "auto":
            self._choose(task, data, stages)
            return
        assignments = tuple(f"{name}={value}" for name, value in self.settings.get("assign", {}).items())
        name, preset, encoder = (self.settings.get(key) for key in ("method", "preset", "encoder"))
        assert name is not None
        config = resolve(name, preset_name=preset, assignments=assignments, encoder=encoder)
        method = method_class(name)
        options: dict[str, Any] = {}
        one_tree = getattr(config, "trees", 0) == 1  # with several, growing and training take turns
        if one_tree and data.corpus.features is not None:
            options["tree"] = self._grow(data, config.tree, stages)
        with stages("train"):
            self.model = method(config, runtime=self.runtime, **options).fit(data)
        if self.settings.get("encoder_alone"):
            self._tune_encoder_alone(data, stages)

    def _choose(self, task: Task, data: Dataset, stages: Stages) -> None:
        """What `treetop train` does without a method: the search is a stage of its own, beside the last training."""
        from treetop.apps.tuning.choosing import choose, wish_of

        dev = None if task.dev_labels is None else partial(dev_texts, task)
        with stages("search"):
            wish, journal = wish_of(self.settings["budget"]), Path(self.settings["journal"])
            found = choose(data, dev, wish, self.runtime, encoder="none", journal=journal, resume=journal.exists())
        with stages("train"):
            self.model = method_class(found.method)(found.settings, runtime=self.runtime).fit(data)
        if found.outcome is not None:
            words = found.outcome.space.words(found.outcome.chosen.setting)
            self.chosen = {"chosen": {"settings": words, "trainings": found.outcome.trainings}}
            cost = stages.measured["search"]  # one that was cut off and went on took what its pieces took
            cost["cpu"] = max(cost["cpu"], found.outcome.seconds)
        journal.unlink(missing_ok=True)

    def _tune_encoder_alone(self, data: Dataset, stages: Stages) -> None:
        """The same loop and texts once more without any head: what is left of a step's time is the head's."""
        from benchmarks.peers.headless import step_cpu, tune_headless

        model: Any = self.model
        with stages("encoder_alone"):
            log = tune_headless(model.text_encoder, data, model.config.optim, self.runtime)
        self.step = {"step": {"cpu": step_cpu(model.logs[0]), "encoder_alone_cpu": step_cpu(log)}}

    def _grow(self, data: Dataset, config: Any, stages: Stages) -> Any:
        assert data.corpus.features is not None
        with stages("pifa"):
            representation = pifa(data.corpus.features, data.labels, threads=self.threads)
        with stages("tree"):
            return grow_tree(representation, config, seed=self.seed, threads=self.threads)

    def save(self, folder: Path) -> None:
        self.model.save(folder)

    def facts(self, folder: Path) -> dict[str, Any]:
        """A digest of all weights: the same for any number of threads."""
        digest = hashlib.sha256()
        for path in sorted(folder.rglob("*.safetensors")):
            digest.update(path.read_bytes())
        return {"digest": digest.hexdigest()[:16], **self._tuning(), **self.step, **self.chosen}

    def _tuning(self) -> dict[str, Any]:
        logs = getattr(self.model, "logs", [])
        if not logs:
            return {}
        steps, wall, cpu = (sum(getattr(log, name) for log in logs) for name in ("steps", "seconds", "cpu_seconds"))
        return tuning(steps * self.model.config.optim.batch_size, wall, cpu)

    def load(self, folder: Path) -> None:
        self.model = load(folder, runtime=self.runtime)

    def queries(self, rows: Any) -> Corpus:
        return Corpus(rows) if self.input == "texts" else Corpus([], csr_array(rows))

    def one(self, rows: Any, row: int) -> Corpus:
        return self.queries(rows[row : row + 1])

    def predict(self, queries: Corpus, k: int) -> Predictions:
        return self.model.predict(queries, k)

    def ranked(self, predicted: Predictions) -> tuple[np.ndarray, np.ndarray]:
        return predicted.labels, predicted.scores

    def vectorise(self, task: Task, stages: Stages) -> dict[str, Any]:
        train, test = task.texts("trn"), task.texts("tst")
        model = Tfidf(TfidfConfig(**self.settings["tfidf"]))
        with stages("fit_transform"):
            features = model.fit_transform(train)
        with stages("transform"):
            model.transform(test)
        return {"features": features.shape[1], "stored": int(features.nnz)}


def as_dataset(task: Task, *, texts: bool) -> Dataset:
    labels = csr_array(task.train_labels)
    space = space_of(task, labels.shape[1])
    corpus = Corpus(task.texts("trn")) if texts else Corpus([], csr_array(task.train_features))
    return Dataset(corpus, labels, space)


def space_of(task: Task, labels: int) -> LabelSpace:
    texts = [*(task.label_texts or ()), *[""] * labels][:labels]
    return LabelSpace([str(label) for label in range(labels)], texts if task.label_texts else None)


def dev_texts(task: Task) -> Dataset:
    assert task.dev_labels is not None
    labels = csr_array(task.dev_labels)
    return Dataset(Corpus(task.texts("dev")), labels, space_of(task, labels.shape[1]))


if __name__ == "__main__":
    main(Treetop)
