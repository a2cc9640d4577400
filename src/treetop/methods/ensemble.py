"""Several models as one: their rankings are fused.

The fusers are those of the papers: mean of scores (LightXML, CascadeXML), of ranks, of sigmoids (X-Transformer), of
softmaxes over each list (XR-Transformer on Eurlex, AmazonCat, Amazon-670K), or the lists in turn. Scores of different
methods live on different scales: `rank_average` is the safe choice between unlike models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from treetop.config import adjust, settle
from treetop.data import Corpus, Dataset, split_by_ratio
from treetop.data.learned import Learned
from treetop.errors import ConfigError, DataError, needs_neural
from treetop.methods.base import Method
from treetop.methods.explaining.account import Account, mixed
from treetop.methods.parts import Part
from treetop.methods.registry import load, method_class, method_record
from treetop.methods.resolving import decide
from treetop.metrics.evaluate import dev_score
from treetop.predictions import Ask, Predictions, fuse
from treetop.presets.registry import PRESETS
from treetop.progress import Plan
from treetop.runtime import Runtime, is_leader
from treetop.store import Folder, whole_file
from treetop.types import CSR

__all__ = ["Ensemble", "EnsembleConfig", "choose"]

Fuser: TypeAlias = Literal["average", "rank_average", "sigmoid_average", "softmax_average", "round_robin"]
_WEIGHTED: tuple[Fuser, ...] = ("average", "rank_average", "sigmoid_average", "softmax_average")
_MEMBERS = "ensemble.json"
_RUN = "run.json"
_MOST_VOTES = 3  # per member, on average: finer weights would fit the held-out texts, not the task


@dataclass(frozen=True, kw_only=True, slots=True)
class EnsembleConfig:
    """How rankings become one."""

    fuser: Fuser = "average"
    """What is averaged, or the lists in turn."""
    weights: tuple[float, ...] | None = None
    """A share per member; all the same if absent."""
    depth: int = 50
    """Labels taken from each member before fusing; short lists punish labels that one of them misses."""
    members: tuple[str, ...] = ()
    """Presets or methods that `fit` trains, one after the other; empty for members that are handed over."""
    encoder: str = ""
    """The encoder of those that have one; empty for their own."""
    dev_share: float = 0.0
    """Share of the training texts that no member learns from: members, fuser and weights are chosen on them."""

    def __post_init__(self) -> None:
        settle(self)
        if not 0 <= self.dev_share < 1:
            raise ConfigError(f"dev_share is {self.dev_share}; it must be from 0 to below 1")
        if self.depth < 1:
            raise ConfigError(f"depth is {self.depth}; take at least one label from each member")
        if self.fuser == "round_robin" and self.weights is not None:
            raise ConfigError("round_robin takes the lists in turn and has no weights; leave them out")
        if self.weights is not None and not (min(self.weights, default=0) >= 0 and sum(self.weights) > 0):
            raise ConfigError(f"weights are {self.weights}; give one non-negative number per member, not all zero")


def _write_members(members: Sequence[Method[Any]], folder: Folder) -> None:
    folder.write_json(_MEMBERS, {"members": len(members)})
    for number, member in enumerate(members):
        member._write(folder.sub(f"member-{number}"))


def _read_members(ensemble: Ensemble, folder: Folder) -> list[Method[Any]]:
    count = folder.read_json(_MEMBERS)["members"]
    members = [load(folder.path / f"member-{number}", runtime=ensemble.runtime) for number in range(count)]
    for member in members:
        member._origin = None  # it is part of the ensemble's folder, and is pickled with it or as a whole
    return members


class Ensemble(Method[EnsembleConfig]):
    """Models of any method, fitted together or before, that vote.

    `checkpoint` is a folder that an interrupted `fit` continues from: each member that is trained by its name and can
    do so has its own in it.
    """

    name = "ensemble"
    config_class = EnsembleConfig
    parts = (Part("members", _write_members, _read_members),)

    def __init__(
        self,
        members: Sequence[Method[Any]] | EnsembleConfig = (),
        config: EnsembleConfig | None = None,
        *,
        preset: str | None = None,
        runtime: Runtime | None = None,
        checkpoint: str | PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(members, EnsembleConfig):  # a configuration may come first, as everywhere else
            config, members = members, ()
        super().__init__(config, preset=preset, runtime=runtime, **settings)
        self.members = members
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        weights = self.config.weights
        if weights is not None and self.members and len(weights) != len(self.members):
            raise ConfigError(f"there are {len(weights)} weights for {len(self.members)} members; give one each")

    def _arguments(self) -> dict[str, Any]:
        return {"members": self.members} | super()._arguments() | {"checkpoint": self.checkpoint}

    @classmethod
    def of(cls, members: Sequence[Method[Any]], config: EnsembleConfig | None = None, **settings: Any) -> Ensemble:
        """An ensemble of models that are already fitted on the same labels."""
        if not members:
            raise ConfigError("an ensemble needs at least one member")
        ensemble = cls(members, config, runtime=members[0].runtime, **settings)
        for member in members:
            member._check_fitted()
            if list(member.space.names) != list(members[0].space.names):
                raise DataError("the members were trained on different labels; train them on the same dataset")
        ensemble.space, ensemble.frequency = members[0].space, members[0].frequency
        known = [member.learned for member in members if member.learned is not None]
        ensemble.learned = Learned.joined(known) if known else None
        parts = [member.training for member in members]
        total = {key: round(sum(part[key] for part in parts), 3) for key in ("wall_seconds", "cpu_seconds")}
        ensemble.training = parts[0] | total | {"peak_rss_mib": max(part["peak_rss_mib"] for part in parts)}
        return ensemble

    def _fit(self, train: Dataset) -> None:
        self.members, share = self._to_train(), self.config.dev_share
        if self.checkpoint is not None and is_leader():
            self.checkpoint.mkdir(parents=True, exist_ok=True)
            with whole_file(self.checkpoint / _RUN) as file:  # what it is; whose and of what data, the members know
                file.write(json.dumps({"method": self.name, "members": self.config.members}) + "\n")
        learn, dev = split_by_ratio(train, 1 - share, self.runtime.seed) if share else (train, None)
        for member in self.members:
            member.runtime = replace(member.runtime, progress=self.runtime.progress)  # one run, told as one
            member.fit(learn)
        if dev is not None:
            chosen = choose(self.members, dev, self.config)
            self.members, self.config = chosen.members, chosen.config

    def _to_train(self) -> Sequence[Method[Any]]:
        """The members that were handed over, or those that the configuration names."""
        if not (self.members or self.config.members):
            raise ConfigError("an ensemble needs at least one member to fit")
        return self.members or [self._named(name, place) for place, name in enumerate(self.config.members)]

    def _named(self, name: str, place: int) -> Method[Any]:
        method, settings = decide(preset_name=name) if name in PRESETS else decide(name)
        record, kept = method_record(method), dict[str, Any]()
        if record.has("resume") and self.checkpoint is not None:
            kept = {"checkpoint": self.checkpoint / f"member-{place}"}
        if record.has("encoder"):
            with needs_neural():  # before another member is trained
                import_module("treetop.neural.training")
            settings = adjust(settings, {"encoder": {"name": self.config.encoder or settings.encoder.name}})
        made: Method[Any] = method_class(method)(settings, runtime=self.runtime, **kept)
        return made

    def plan(self, train: Dataset) -> Plan:
        """The stages of all members, one after the other."""
        self.members = self._to_train()
        plans = [member.plan(train) for member in self.members]
        stages = [stage for plan in plans for stage in plan.stages]
        memory = max((plan.memory for plan in plans), default=0)
        return Plan(stages, memory, f"{len(train):,} texts, {len(self.members)} members")

    @property
    def calibration_depth(self) -> int:
        """As deep as members are asked: places in lists mean the same only in lists of the same depth."""
        return self.config.depth

    @property
    def suggests_unseen(self) -> bool:
        """By names that the ensemble learned to count in, or its members."""
        return self.naming is not None or any(member.suggests_unseen for member in self.members)

    @property
    def has_beam(self) -> bool:
        """Whether one of the members has a beam; the others look at every label."""
        return any(member.has_beam for member in self.members)

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        deep = ask.wider(self.config.depth, len(self.space))
        lists = [member._rank(corpus, deep if member.has_beam else deep._replace(beam=None)) for member in self.members]
        return fuse(lists, self.config.fuser, weights=self.config.weights, k=ask.k)

    def _account(self, corpus: Corpus, label: int) -> Account:
        votes = np.ones(len(self.members)) if self.config.weights is None else np.asarray(self.config.weights)
        accounts = [member._account(corpus, label) for member in self.members]
        return mixed([
            (float(vote), member.name, account)
            for vote, member, account in zip(votes / votes.sum(), self.members, accounts, strict=True)
        ])  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """Who votes."""
        return {"members": ", ".join(member.name for member in self.members)}


def choose(members: Sequence[Method[Any]], dev: Dataset, config: EnsembleConfig | None = None) -> Ensemble:
    """The ensemble that ranks held-out texts best, by the mean of P@1, P@3 and P@5.

    Under every fuser that has weights, members join one at a time, each as often as it helps: greedy selection with
    replacement (Caruana et al., ICML 2004). Those that never help are left out, so there may be fewer than were given.
    """
    config = config or EnsembleConfig()
    Ensemble.of(members)  # refuses members that do not fit together, before any of them predicts
    ask = Ask(min(config.depth, len(members[0].space)))  # scores as they are fused, not as probabilities
    lists = [member._rank(dev.corpus, ask) for member in members]
    found = [(*_most_helpful(lists, dev.labels, fuser), fuser) for fuser in _WEIGHTED]
    _, votes, fuser = max(found, key=lambda one: one[0])
    kept = [number for number, count in enumerate(votes) if count]
    weights = tuple(float(votes[number]) for number in kept)
    return Ensemble.of([members[number] for number in kept], replace(config, fuser=fuser, weights=weights))


def usual_fuser(members: Sequence[Method[Any]]) -> Fuser:
    """The mean of scores where they are alike, of one method and kind; else of ranks, all that unlike ones share.

    Ranks take a label that a list lacks for its last: between clusters that differ that costs more than it is worth.
    """
    kinds = {(member.name, member.predict([], 1).kind) for member in members}
    return "average" if len(kinds) == 1 else "rank_average"


def _most_helpful(lists: Sequence[Predictions], true: CSR, fuser: str) -> tuple[float, list[int]]:
    """The best dev score that members reach together, and how often each of them votes for it."""
    best, votes = -1.0, [0] * len(lists)
    for _ in range(_MOST_VOTES * len(lists)):
        joined = [[count + (number == place) for place, count in enumerate(votes)] for number in range(len(lists))]
        scores = [dev_score(fuse(lists, fuser, weights=weights), true) for weights in joined]
        if max(scores) <= best:
            break
        best, votes = max(scores), joined[scores.index(max(scores))]
    return best, votes
