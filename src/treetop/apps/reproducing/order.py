"""What is to be made: the texts, the models of the paper's ensemble, and the settings of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from treetop.config import adjust, from_dict, merge, override
from treetop.data import Dataset, LabelSpace, read, split_by_ratio
from treetop.errors import ConfigError, DataError
from treetop.methods.registry import method_class
from treetop.presets.datasets import Benchmark, benchmark
from treetop.presets.preset import Member, Preset
from treetop.presets.registry import PRESETS
from treetop.presets.scaling import scaled
from treetop.runtime import Runtime
from treetop.sparse import canonical

__all__ = ["Order", "Planned", "order"]

_SAME = 0.05  # A release of about so many texts and labels is the benchmark; its settings stay as they are.
_PAPERS_LAYERS = 12  # of BERT-base, which the layers of CascadeXML's levels are counted in


@dataclass(frozen=True, slots=True)
class Planned:
    """One model to train."""

    name: str
    config: Any
    seed: int


@dataclass(frozen=True, slots=True)
class Order:
    """All that is asked for."""

    preset: Preset
    train: Dataset
    test: Dataset
    members: tuple[Planned, ...]
    remarks: tuple[str, ...]
    """What differs from the paper."""

    @property
    def known(self) -> Benchmark:
        """The benchmark."""
        return benchmark(str(self.preset.dataset))


def order(
    method: str,
    dataset: str,
    data: Path,
    *,
    scale: float = 1.0,
    encoder: str | None = None,
    single: bool = False,
    assignments: Sequence[str] = (),
    runtime: Runtime,
) -> Order:
    """The texts and the models of one row; refuses what cannot work before anything is trained."""
    preset = _preset(method, dataset)
    known = benchmark(dataset)
    if not 0 < scale <= 1:
        raise ConfigError(f"scale is {scale}; give the share of the texts to use, above 0 and at most 1")
    train = read(data, split="train", runtime=runtime)
    test = read(data, split="test", space=train.space, runtime=runtime)
    remarks: list[str] = []
    if not _alike(len(train), known.train_texts) or not _alike(len(train.space), known.labels):
        remarks.append(
            f"these are not the data of {known.name}: {len(train):,} texts and {len(train.space):,} labels, "
            f"where it has {known.train_texts:,} and {known.labels:,}"
        )
    if scale < 1:
        train, test = _slice(train, test, scale, runtime.seed)
        remarks.append(f"{len(train):,} and {len(test):,} texts, {len(train.space):,} labels: a share of {scale:g}")
    values = preset.values
    if not _alike(len(train), known.train_texts) or not _alike(len(train.space), known.labels):
        values = scaled(values, len(train) / known.train_texts, len(train.space), known.labels)
        remarks.append("steps and levels of trees are scaled to these sizes")
    members = preset.members[:1] if single else preset.members
    if encoder is not None:
        fit = partial(_with_encoder, encoder)
        values, members = _with_its_depth(values, encoder), tuple(map(fit, members, _seeds(members)))
        remarks.append(f"every encoder is {encoder}")
    planned = tuple(_planned(preset, values, member, assignments, runtime) for member in members)
    train = _with_label_texts(train, planned)
    return Order(preset, train, test, planned, tuple(remarks))


def _preset(method: str, dataset: str) -> Preset:
    name = f"{method}-{dataset.lower()}"
    papers = {known.name: known for known in PRESETS.values() if known.members}
    if name not in papers:
        there = [known.dataset for known in papers.values() if known.method == method]
        methods = sorted({known.method for known in papers.values()})
        problem = f"no paper reports {method} on {dataset}"
        raise ConfigError(
            f"{problem}; it is published for {', '.join(map(str, there))}" if there
            else f"{problem}; methods with published rows are {', '.join(methods)}"
        )  # fmt: skip
    return papers[name]


def _alike(size: int, published: int) -> bool:
    return abs(size - published) <= _SAME * published


def _slice(train: Dataset, test: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """A share of both, and only the labels that the share of the training texts has."""
    some, tested = split_by_ratio(train, share, seed)[0], split_by_ratio(test, share, seed)[0]
    kept = np.flatnonzero(some.frequency)
    names, texts, labels = train.space.names, train.space.texts, kept.tolist()
    space = LabelSpace(
        [names[label] for label in labels], None if texts is None else [texts[label] for label in labels]
    )
    return _only(some, kept, space), _only(tested, kept, space)


def _only(dataset: Dataset, labels: Any, space: LabelSpace) -> Dataset:
    """The dataset with some of its labels, and the texts that have one."""
    matrix = canonical(dataset.labels[:, labels])
    filtered = None if dataset.filtered is None else canonical(dataset.filtered[:, labels])
    rows = np.flatnonzero(np.diff(matrix.indptr))
    if not len(rows):
        raise DataError("no text of the share has a label that its training texts have; take a larger share")
    return replace(dataset, labels=matrix, space=space, filtered=filtered).take(rows)


def _seeds(members: Sequence[Member]) -> list[int]:
    """With one encoder for all, members that differed by theirs alone differ by their seed."""
    seen: dict[str, int] = {}
    seeds = []
    for member in members:
        rest = repr({key: value for key, value in member.values.items() if key != "encoder"})
        seeds.append(member.seed + seen.get(rest, 0))
        seen[rest] = seen.get(rest, 0) + (member.values.get("encoder") is not None)
    return seeds


def _with_encoder(encoder: str, member: Member, seed: int) -> Member:
    values = {**member.values, "encoder": {"name": encoder}}
    if values.get("label_encoder"):
        values["label_encoder"] = encoder
    return Member(member.name, values, seed)


def _with_its_depth(values: dict[str, Any], encoder: str) -> dict[str, Any]:
    """The settings for an encoder of another depth, or that reads fewer tokens, than the papers' BERT."""
    from treetop.text.encoder import limits_of

    limit, layers = limits_of(encoder)
    tokens = values["encoder"]["max_tokens"]
    found = {**values, "encoder": {**values["encoder"], "max_tokens": min(tokens, limit or tokens)}}
    if layers != _PAPERS_LAYERS and isinstance(values.get("layers"), list):
        del found["layers"]
    return found


def _planned(
    preset: Preset, values: dict[str, Any], member: Member, assignments: Sequence[str], runtime: Runtime
) -> Planned:
    config_class = method_class(preset.method).config_class
    config = override(adjust(from_dict(config_class, merge(values, {})), member.values), tuple(assignments))
    return Planned(member.name, config, runtime.seed + member.seed)


def _with_label_texts(train: Dataset, members: Sequence[Planned]) -> Dataset:
    """Labels that are represented by their texts, read by their names where these are words."""
    if not any(getattr(member.config, "representation", "") == "text" for member in members):
        return train
    if train.space.texts is not None:
        return train
    if all(name.isdecimal() for name in train.space.names):
        raise DataError(
            "some of these models read what labels are called, and here labels are numbers; "
            "put labels.txt (label<TAB>text) beside the data, or train one model with --single"
        )
    return replace(train, space=train.space.with_texts({}))
