"""PECOS XR-Transformer (libpecos), on the CPU, from a folder with a pretrained encoder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from pecos.utils import torch_util
from pecos.xmc.xtransformer.matcher import TransformerMatcher
from pecos.xmc.xtransformer.model import XTransformer
from pecos.xmc.xtransformer.module import MLProblemWithText

from benchmarks.peers.protocol import Peer, Stages, Task, cpu_seconds, from_csr, main, tuning

WORKERS = 1  # that make batches; with none the interpreter dies


class PecosTransformer(Peer):
    packages = ("libpecos", "transformers", "torch", "numpy", "scipy")
    input = "both"

    def train(self, task: Task, stages: Stages) -> None:
        torch_util.set_seed(self.seed)
        spent = self._watch_tuning()
        problem = MLProblemWithText(task.texts("trn"), task.train_labels, X_feat=task.train_features)
        with stages("train"):
            train, predict = self._parameters()
            self.model = XTransformer.train(problem, train_params=train, pred_params=predict, threads=self.threads)
        per_level = self.settings["matcher"]["max_steps"] * self.settings["matcher"]["batch_size"]
        self.tuning = tuning(per_level * len(spent), *(sum(unit) for unit in zip(*spent, strict=True)))

    def _parameters(self) -> tuple[Any, Any]:
        train = XTransformer.TrainParams.from_dict({}, recursive=True).to_dict()
        predict = XTransformer.PredParams.from_dict({}, recursive=True).to_dict()
        own = {"model_shortcut": self.settings["encoder"], "use_gpu": False, "batch_gen_workers": WORKERS}
        train["matcher_params_chain"] |= {**self.settings["matcher"], **own}
        train["preliminary_indexer_params"] |= self.settings["tree"]
        train["refined_indexer_params"] |= self.settings["refined_tree"]
        predict["matcher_params_chain"] |= self.settings["matcher_predict"]
        return XTransformer.TrainParams.from_dict(train), XTransformer.PredParams.from_dict(predict)

    def _watch_tuning(self) -> list[tuple[float, float]]:
        """Wall and CPU-seconds of the fine-tuning of each level, apart from tokenising, embedding and ranking."""
        spent: list[tuple[float, float]] = []
        original = TransformerMatcher.fine_tune_encoder

        def timed(*arguments: Any, **options: Any) -> Any:
            wall, cpu = time.perf_counter(), cpu_seconds()
            result = original(*arguments, **options)
            spent.append((time.perf_counter() - wall, cpu_seconds() - cpu))
            return result

        TransformerMatcher.fine_tune_encoder = timed
        return spent

    def save(self, folder: Path) -> None:
        self.model.save(str(folder))

    def facts(self, folder: Path) -> dict[str, Any]:
        del folder
        return self.tuning

    def load(self, folder: Path) -> None:
        self.model = XTransformer.load(str(folder))

    def one(self, rows: Any, row: int) -> Any:
        return tuple(part[row : row + 1] for part in rows)

    def predict(self, queries: Any, k: int) -> Any:
        features, texts = queries
        options = {"use_gpu": False, "batch_gen_workers": WORKERS, "batch_size": self.settings["matcher"]["batch_size"]}
        return self.model.predict(texts, X_feat=features, only_topk=k, threads=self.threads, **options)

    def ranked(self, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
        return from_csr(predicted)


if __name__ == "__main__":
    main(PecosTransformer)
