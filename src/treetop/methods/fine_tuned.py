"""What the methods that fine-tune an encoder share beyond `Method`: the encoder, checkpoints, and what it all needs."""

from __future__ import annotations

import hashlib
import logging
import shutil
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from treetop.config import to_dict
from treetop.data import Dataset
from treetop.errors import DataError
from treetop.labels import LabelTree, TreeConfig
from treetop.methods.bag import FeatureSource, fit_bag_of_words, texts_of
from treetop.methods.base import Method, training_memory
from treetop.methods.costs import Sizes, sizes_of
from treetop.methods.parts import Part
from treetop.metrics.evaluate import dev_score
from treetop.neural.settings import OptimConfig
from treetop.predictions import Ask, Predictions
from treetop.progress import Plan, Progress, Stage
from treetop.runtime import Runtime, is_leader, processes
from treetop.sparse import from_parts
from treetop.store import Folder, discard
from treetop.text import Tfidf, TfidfConfig
from treetop.text.encoder_config import EncoderConfig
from treetop.text.reading.choosing import Layers, check_installed, open_reader, will_export
from treetop.text.reading.text_reader import TextReader
from treetop.text.states import forget_states
from treetop.text.tokens import Tokens
from treetop.types import CSR, Texts

if TYPE_CHECKING:  # to predict, torch and transformers are not needed
    from treetop.neural.costs import EncoderCosts
    from treetop.neural.memory import Head
    from treetop.neural.sharing import Sharing
    from treetop.neural.training import TrainingLog, Watch
    from treetop.text.encoder import EncoderSize, TextEncoder

__all__ = ["FineTuned", "FineTunedConfig", "check_groups", "in_turn", "last_layer", "reader_part"]

LOG = "training.jsonl"
_ENCODER = "encoder"
_TOGETHER = 16_384
_COMPARED = 32
"""Texts whose best labels are compared with those by torch."""
_SAME_LABELS = 0.6
"""The least share of the five best that are the same; of labels that hardly differ, which are best is chance."""

log = logging.getLogger("treetop")


class FineTunedConfig(Protocol):
    """What the configuration of every such method has."""

    @property
    def encoder(self) -> EncoderConfig:
        """The text encoder."""

    @property
    def optim(self) -> OptimConfig:
        """The training."""

    @property
    def tfidf(self) -> TfidfConfig:
        """Features of the texts."""

    @property
    def features(self) -> FeatureSource:
        """Those, or others that are given."""


def last_layer(depth: int) -> tuple[int, ...]:
    """What most methods read of an encoder that has so many layers."""
    return (depth,)


def reader_part(layers: Callable[[Any], Layers]) -> Part:
    """An encoder that learns no more, and what was exported of it; `layers` says which a model reads."""
    return Part(
        "reader",
        write=lambda reader, folder: reader.save(folder.path / _ENCODER),
        read=lambda model, folder: open_reader(
            model.config.encoder, folder.path / _ENCODER, layers(model), model.runtime
        ),
    )


def check_groups(tree: LabelTree, config: TreeConfig, otherwise: str) -> None:
    """Refuse a tree without a level above its labels: without groups a method would silently be another one.

    Of a single label there is nothing to group.
    """
    if tree.levels == 1 and tree.widths[0] > 1:
        raise DataError(
            f"{tree.widths[0]:,} labels make no groups (tree.max_leaf is {config.max_leaf}, tree.widths "
            f"{list(config.widths)}); set tree.max_leaf to less than there are labels; {otherwise}"
        )


def in_turn(tokens: Tokens, rank: Callable[[Tokens], Predictions]) -> Predictions:
    """The predictions for all texts, some thousands at a time: that many have their states in memory together."""
    if len(tokens) <= _TOGETHER:
        return rank(tokens)
    starts = range(0, len(tokens), _TOGETHER)
    found = [rank(tokens.take(slice(start, start + _TOGETHER))) for start in starts]
    labels, scores = (np.concatenate(parts) for parts in zip(*((f.labels, f.scores) for f in found), strict=True))
    return Predictions(labels, scores, kind=found[0].kind)


C = TypeVar("C", bound=FineTunedConfig)
F = TypeVar("F", bound="FineTuned[Any]")


class FineTuned(Method[C]):
    """A method that fine-tunes an encoder; `checkpoint` is a folder that an interrupted `fit` continues from."""

    reader: TextReader
    """The encoder as it was tuned, and who runs it; there after `fit`."""
    tfidf: Tfidf | None

    memory_advice: ClassVar[str] = (
        "Lower optim.batch_size or encoder.max_tokens, raise encoder.freeze, or set encoder.checkpointing=true "
        "or optim.second_moment=row; of several processes (torchrun), optim.heads=divided gives each a part."
    )

    def __init__(
        self,
        config: C | None = None,
        *,
        preset: str | None = None,
        runtime: Runtime | None = None,
        checkpoint: str | PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, preset=preset, runtime=runtime, **settings)
        if self.runtime.device != "cpu":
            from treetop.text.devices import check_device

            check_device(self.runtime.device)
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.logs: list[TrainingLog] = []
        self._log_file: Path | None = None  # of a model that was loaded

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"checkpoint": self.checkpoint}

    @classmethod
    def load(cls: type[F], path: str | PathLike[str] | Folder, *, runtime: Runtime | None = None) -> F:
        """Open a saved model, as any other; the log of its training stays with it."""
        folder = path if isinstance(path, Folder) else Folder.open(path)
        model = super().load(folder, runtime=runtime)
        model._log_file = folder.path / LOG
        return model

    def _fit(self, train: Dataset) -> None:
        from treetop.neural.checkpoint import claim
        from treetop.text.devices import check_trains
        from treetop.text.encoder import check_reads

        check_trains(self.runtime.device)
        check_installed(self.config.encoder)
        check_reads(self.config.encoder, texts_of(train.corpus))
        if self.checkpoint is None:
            self._learn_together(train)
            return
        begun = self.checkpoint.exists()
        claim(self.checkpoint, self._run(train))
        try:
            self._learn_together(train)
        except Exception:
            if is_leader() and not begun and not any(self.checkpoint.glob("*/step-*")):  # nothing to resume
                discard(self.checkpoint)
            raise
        if is_leader():
            forget_states(self.checkpoint)

    def _check_reader(self, train: Dataset) -> None:
        """Let torch read if the exported encoder's best labels of some texts are not those by torch."""
        from treetop.text.reading.torch_reader import EncoderReader

        if isinstance(self.reader, EncoderReader):
            return
        rows = np.random.default_rng(self.runtime.seed).permutation(len(train))[:_COMPARED]
        some, ask = train.take(np.sort(rows)).corpus, Ask(min(5, len(train.space)))
        exported, runtime, self.runtime = self.reader, self.runtime, replace(self.runtime, progress=Progress())
        found = self._predict(some, ask).labels
        self.reader = EncoderReader(exported.text_encoder(), exported.layers, runtime)
        by_torch = self._predict(some, ask).labels
        self.runtime, same = runtime, float((found[:, :, None] == by_torch[:, None]).any(2).mean())
        if same >= _SAME_LABELS:
            self.reader = exported
            return
        log.warning("%s finds %.0f%% of the labels that torch finds: torch reads", exported.reader.name, 100 * same)

    def _learn_together(self, train: Dataset) -> None:
        """Learn, with the other processes of `torchrun` if there are any."""
        from treetop.neural.parallel import world_of
        from treetop.neural.sharing import Sharing

        sharing = Sharing(world_of(self.runtime), self.checkpoint)
        self._learn(train, sharing)
        if is_leader():  # who saves the model; beside others, transformers writes no weights to compare with
            self._check_reader(train)
        sharing.close()

    def _weigh(self, train: Dataset, sharing: Sharing) -> CSR:
        """The sparse features that labels are grouped by and ranked with; the leading process alone needs them."""
        made: list[CSR] = []

        def make() -> Tfidf | None:
            config, corpus, cores = self.config, train.corpus, self.runtime.cores
            with self.runtime.bar("tf-idf"):
                tfidf, x = fit_bag_of_words(config.tfidf, corpus, features=config.features, threads=cores)
            made.append(x)
            return tfidf

        self.tfidf = self._part("tfidf", sharing, make)
        return made[0] if made else from_parts(np.zeros(1, np.int64), np.empty(0, np.int32), None, columns=0)

    def _part(self, name: str, sharing: Sharing, make: Callable[[], Any]) -> Any:
        """A part of the model that the leading process makes, and the others read as if it had been saved."""
        part = next(part for part in self.parts if part.attribute == name)

        def write(value: Any, folder: Folder) -> None:
            if value is not None:
                part.write(value, folder)

        def read(folder: Folder) -> Any:
            there = any(folder.path.iterdir())
            return part.read(self, folder) if there else None

        return sharing.once(name, make, write, read)

    def _write(self, folder: Folder) -> None:
        """The model, and the log of its training: a line per record, `run` counts the trainings of one fit."""
        super()._write(folder)
        if any(log.records for log in self.logs):
            folder.write_lines(LOG, self.training_records())
        elif self._log_file is not None and self._log_file.exists():
            shutil.copyfile(self._log_file, folder.path / LOG)

    def training_records(self) -> list[dict[str, Any]]:
        """The log of the training, a record per logged step (see `TrainingLog`); none if nothing was fine-tuned."""
        if not self.logs and self._log_file is not None and self._log_file.exists():
            return list(Folder(self._log_file.parent).read_lines(LOG))
        return [{"run": run, **record} for run, log in enumerate(self.logs) for record in log.records]

    def _run(self, train: Dataset) -> dict[str, Any]:
        """What must be the same for a run to be continued."""
        data = {"texts": len(train), "labels": len(train.space), "tags": train.labels.nnz, "digest": _digest(train)}
        run = {"method": self.name, "seed": self.runtime.seed, "precision": self.runtime.precision}
        return {**run, "data": data, "config": to_dict(self.config)}

    def _watch(self, dev: Dataset | None, show: Callable[[], None]) -> Watch | None:
        """The score that the best weights are chosen by, on held-out texts; `show` lets the model see them."""
        if dev is None:
            return None

        def watch() -> float:
            show()
            return dev_score(self._predict(dev.corpus, Ask(min(5, len(dev.space)))), dev.labels)

        return watch

    def plan(self, train: Dataset) -> Plan:
        """The stages of a training; a layer of the encoder is tried out to tell how quick this machine is."""
        from treetop.neural.costs import EncoderCosts, try_out
        from treetop.text.encoder import mean_tokens, size_of

        config, runtime, texts = self.config.encoder, self.runtime, texts_of(train.corpus)
        tokens, size = mean_tokens(config, texts), size_of(config)
        speed = try_out(size, max(1, round(min(tokens, config.max_tokens))), runtime)
        costs = EncoderCosts(speed, size, config, len(train), tokens, runtime.cores, will_export(config, runtime))
        stages = self._tuning(sizes_of(train, runtime.cores), costs)
        task = f"{len(train):,} texts × {tokens:.0f} tokens, {_length(self.config.optim)}"
        return Plan(stages, self._memory(train, size), task)

    def memory_estimate(self, train: Dataset) -> int:
        """Bytes of the network (see `neural.memory`), and of the linear parts on tf-idf."""
        from treetop.text.encoder import size_of

        return self._memory(train, size_of(self.config.encoder))

    def device_memory(self, train: Dataset) -> tuple[int, int] | None:
        """Bytes that the network needs on a GPU, and those that are free there; None on a CPU."""
        from treetop.neural.memory import free_on
        from treetop.text.encoder import size_of

        free = free_on(self.runtime.device)
        return None if free is None else (self._network_memory(train, size_of(self.config.encoder)), free)

    def _memory(self, train: Dataset, size: EncoderSize) -> int:
        """Bytes in the memory of the machine: on a GPU the network has its own."""
        of_linear = training_memory(train, trees=self._linear_trees(), half=False)
        elsewhere = self.runtime.device.startswith("cuda")
        return of_linear + (0 if elsewhere else self._network_memory(train, size))

    def _network_memory(self, train: Dataset, size: EncoderSize) -> int:
        from treetop.neural.memory import needed_memory

        config, labels = self.config, len(train.space)
        heads, chooses = self._heads(labels, size), getattr(config, "dev_share", 0.0) > 0
        optim = replace(config.optim, batch_size=min(config.optim.batch_size, len(train)))
        return needed_memory(size, config.encoder, optim, heads, keeps_best=chooses, processes=processes())

    @property
    def text_encoder(self) -> TextEncoder:
        """The encoder as it was tuned; there after `fit`."""
        self._check_fitted()
        return self.reader.text_encoder()

    def shortlists(self, texts: Texts) -> list[CSR]:
        """The nodes that search keeps for each text, level by level; empty if the method has no such levels."""
        del texts
        return []

    def _linear_trees(self) -> int:
        """Linear models on tf-idf that are trained beside the network."""
        return 0

    @abstractmethod
    def _learn(self, train: Dataset, sharing: Sharing) -> None:
        """Learn; set what prediction needs. What is no gradient is made once and shared."""

    @abstractmethod
    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        """The stages of a training on data of these sizes with an encoder of these costs."""

    @abstractmethod
    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        """The scorers that are in memory together, for so many labels and an encoder of that size."""


def _length(optim: OptimConfig) -> str:
    return f"{optim.steps:,} steps" if optim.steps else f"{optim.epochs} epoch{'s' if optim.epochs != 1 else ''}"


def _digest(train: Dataset) -> str:
    """A short word for the texts, their labels and the names of the labels: other data have another."""
    digest = hashlib.blake2b(digest_size=8)
    for part in (texts_of(train.corpus), train.space.names):
        for text in part:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    for numbers in (train.labels.indptr, train.labels.indices):
        digest.update(numbers.astype("<i8").tobytes())
    return digest.hexdigest()
