"""What is measured: peers with their settings, and the generated tasks of each mode."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.generate import SHAPES, Shape

__all__ = [
    "ENTRIES", "GROWTH", "HEADS", "QUICK", "REFERENCE", "SCALE", "Entry", "growth_shape", "head_entries", "heads_shape",
    "shape_of",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of the tables: a peer with settings."""

    name: str
    title: str
    peer: str
    settings: dict[str, Any] = field(default_factory=dict)
    equal: bool = False
    """Tree shape, solver and search as in PECOS's defaults: one tree, leaves of 100, 16 children, beam 10."""
    threads: int | None = None
    """Another number of threads than the run's."""
    model_of: str | None = None
    """Predict with the model another entry has just trained, instead of training one."""
    variant: bool = False
    """The model of another entry, served or trained in another way: only its cost is worth showing."""
    needs_texts: bool = False
    """It is given the texts instead of the shared matrix, so turning them into features is part of its cost."""
    needs_encoder: bool = False
    """It fine-tunes the encoder that the run was given."""
    once: bool = False
    """So slow that it takes part in the first round only."""
    most_work: float = float("inf")
    """Texts × labels beyond which the peer is not tried, because it would take hours on two cores."""


PECOS = {
    "tree": {"indexer_type": "hierarchicalkmeans", "nr_splits": 16, "max_leaf_size": 100},
    "train": {"Cp": 1.0, "Cn": 1.0, "eps": 0.1, "max_iter": 100, "threshold": 0.1, "bias": 1.0},
    "predict": {"beam_size": 10, "post_processor": "l3-hinge"},
    "tfidf": {"ngram_range": [1, 1], "analyzer": "word", "norm": "l2"},
}
EQUAL = {
    "tree.max_leaf": 100,
    "tree.branching": 16,
    "linear.solver.c_positive": 1.0,
    "linear.solver.c_negative": 1.0,
    "linear.solver.eps": 0.1,
    "linear.solver.max_iter": 100,
    "linear.solver.threshold": 0.1,
    "linear.solver.bias": 1.0,
    "linear.search.beam": 10,
    "linear.search.link": "l3-hinge",
}
HASH = {"load": {"weight_matrix_type": "HASH_CHUNKED"}}
LIBLINEAR = {"train": {"options": "-s 1 -B 1 -e 0.0001 -q", "K": 100, "dmax": 10}, "predict": {"beam_width": 10}}
OVA = {"loss": "ova", "lr": 0.5, "epoch": 25, "wordNgrams": 2, "bucket": 200_000, "dim": 50}  # fastText's tutorial
BONSAI = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}  # Annif's documentation

STEPS, BATCH, TOKENS = 50, 32, 128  # the same short fine-tuning of every level
PECOS_TRANSFORMER = {
    "tree": {"nr_splits": 16, "max_leaf_size": 16},
    "refined_tree": {"nr_splits": 16, "max_leaf_size": 32},
    "matcher": {
        "batch_size": BATCH, "max_steps": STEPS, "learning_rate": 5e-5, "warmup_steps": STEPS // 10,
        "negative_sampling": "tfn+man",
    },
    "matcher_predict": {"truncate_length": TOKENS, "only_topk": 10},
}  # fmt: skip
TREETOP_TRANSFORMER = {
    "encoder.max_tokens": TOKENS,
    "optim.batch_size": BATCH,
    "optim.steps": STEPS,
    "optim.lr": 5e-5,
    "coarse_tree.max_leaf": 16,
    "coarse_tree.branching": 16,
    "fine_tree.max_leaf": 32,
    "fine_tree.branching": 16,
}
PECOS_RANKER = {
    "tfidf.sublinear_tf": "false",
    **{f"ranker.{name.removeprefix('linear.')}": value for name, value in EQUAL.items() if "tree" not in name},
    "ranker.search.beam": 20,
    "ranker.search.leaf_link": "l3-hinge",
    "ranker.search.combine": "multiply",
    "ranker.negatives": "teacher",
    "ranker.relevance": "off",
}
"""The ranker of PECOS's XR-Transformer, on the features that it was given."""

REFERENCE = "pecos-xr-linear"
"""The entry that others are compared with, text by text."""

ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(name=REFERENCE, title="PECOS XR-Linear", peer="pecos", settings=PECOS, equal=True),
        Entry(
            name="pecos-xr-linear-hash",
            title="PECOS XR-Linear, hash",
            peer="pecos",
            settings={**PECOS, **HASH},
            equal=True,
            model_of=REFERENCE,
            variant=True,
        ),
        Entry(
            name="treetop-xr-linear",
            title="treetop XR-Linear",
            peer="treetop",
            settings={"method": "xr-linear", "assign": EQUAL},
            equal=True,
        ),
        Entry(
            name="treetop-xr-linear-1-thread",
            title="treetop XR-Linear, one thread",
            peer="treetop",
            settings={"method": "xr-linear", "assign": EQUAL},
            equal=True,
            threads=1,
            variant=True,
        ),
        Entry(
            name="treetop-xr-linear-texts",
            title="treetop XR-Linear, from texts",
            peer="treetop",
            settings={"method": "xr-linear", "texts": True},
            needs_texts=True,
        ),
        Entry(
            name="treetop-accurate",
            title="treetop, preset accurate",
            peer="treetop",
            settings={"method": "xr-linear", "preset": "accurate"},
        ),
        Entry(
            name="treetop-thorough",
            title="treetop, preset thorough",
            peer="treetop",
            settings={"method": "xr-linear", "preset": "thorough"},
        ),
        Entry(
            name="treetop-auto",
            title="treetop, settings chosen",
            peer="treetop",
            settings={"method": "auto", "texts": True, "budget": "5mcpu"},
            needs_texts=True,
            once=True,
        ),
        Entry(
            name="treetop-parabel",
            title="treetop Parabel (3 trees)",
            peer="treetop",
            settings={"method": "xr-linear", "preset": "parabel"},
            once=True,
        ),
        Entry(
            name="treetop-bonsai",
            title="treetop Bonsai (3 trees)",
            peer="treetop",
            settings={"method": "xr-linear", "preset": "bonsai"},
            once=True,
        ),
        Entry(
            name="treetop-dismec",
            title="treetop one-vs-all",
            peer="treetop",
            settings={"method": "one-vs-all", "preset": "dismec"},
            most_work=1e10,
            once=True,
        ),
        Entry(name="omikuji-parabel", title="omikuji Parabel (3 trees)", peer="omikuji", once=True),
        Entry(
            name="omikuji-bonsai",
            title="omikuji Bonsai (3 trees)",
            peer="omikuji",
            settings={"train": BONSAI},
            once=True,
        ),
        Entry(
            name="annif-omikuji",
            title="Annif omikuji, from texts",
            peer="annif",
            needs_texts=True,
            once=True,
        ),
        Entry(name="napkinxc-plt", title="napkinXC PLT", peer="napkinxc", once=True),
        Entry(
            name="libmultilabel-tree",
            title="LibMultiLabel tree",
            peer="libmultilabel",
            settings=LIBLINEAR,
            once=True,
            most_work=1e10,
        ),
        Entry(
            name="sklearn-one-vs-rest",
            title="scikit-learn one-vs-rest",
            peer="sklearn",
            settings={"train": {}},
            once=True,
            most_work=5e8,
        ),
        Entry(
            name="fasttext-ova",
            title="fastText one-vs-all, from texts",
            peer="fasttext",
            settings=OVA,
            once=True,
            needs_texts=True,
            most_work=1e9,
        ),
        Entry(
            name="fasttext-hs",
            title="fastText hierarchical softmax, from texts",
            peer="fasttext",
            settings={**OVA, "loss": "hs"},
            needs_texts=True,
            once=True,
        ),
        Entry(
            name="pecos-xr-transformer",
            title="PECOS XR-Transformer",
            peer="pecos_transformer",
            settings=PECOS_TRANSFORMER,
            needs_texts=True,
            needs_encoder=True,
            once=True,
        ),
        Entry(
            name="treetop-xr-transformer",
            title="treetop XR-Transformer",
            peer="treetop",
            settings={"method": "xr-transformer", "texts": True, "assign": TREETOP_TRANSFORMER},
            needs_texts=True,
            needs_encoder=True,
            once=True,
        ),
        Entry(
            name="treetop-xr-transformer-equal-ranker",
            title="treetop XR-Transformer, PECOS's ranker",
            peer="treetop",
            settings={"method": "xr-transformer", "texts": True, "assign": TREETOP_TRANSFORMER | PECOS_RANKER},
            needs_texts=True,
            needs_encoder=True,
            once=True,
        ),
        Entry(
            name="treetop-instant",
            title="treetop XR-Transformer, preset instant",
            peer="treetop",
            settings={
                "method": "xr-transformer",
                "texts": True,
                "preset": "instant",
                "assign": {"encoder.max_tokens": TOKENS},
            },
            needs_texts=True,
            needs_encoder=True,
            once=True,
        ),
    )
}

QUICK = ("pecos-xr-linear", "treetop-xr-linear", "omikuji-parabel", "napkinxc-plt")
"""Entries of the quick mode."""

GROWTH = (10_000, 30_000, 100_000, 300_000, 1_000_000)
"""Labels of the growth series."""

TEST_TEXTS = 20_000
"""Test texts of generated tasks, at most."""

SCALE = (1 / 32, 1 / 16, 1 / 8, 1 / 4)
"""Fractions of Amazon-3M's shape that are measured."""


def shape_of(name: str) -> Shape:
    """A shape by name, as `zipf-200k`, or a part of it, as `zipf-200k:0.1`; with a limited number of test texts."""
    base, _, factor = name.partition(":")
    if base not in SHAPES:
        raise SystemExit(f"there is no folder or shape '{base}'; shapes are {', '.join(SHAPES)}")
    shape = SHAPES[base].scaled(float(factor or 1))
    return replace(shape, test=min(shape.test, TEST_TEXTS))


def growth_shape(labels: int) -> Shape:
    """As many texts as labels, everything per text the same, always ten thousand test texts."""
    return replace(SHAPES["zipf-200k"], train=labels, labels=labels, test=10_000)


HEADS = (10_000, 100_000, 670_091, 2_812_281)
"""Labels of the series of heads; the last two are Amazon-670K's and Amazon-3M's."""

LIGHTXML_UP_TO = 1_000_000
"""LightXML's paper stops at Amazon-670K: its one level of groups would have hundreds of labels each beyond that."""


def heads_shape(labels: int) -> Shape:
    """Seven labels for every text or more, so that all occur, and texts that fill 128 tokens."""
    return Shape(train=max(3_000, labels // 7), test=500, labels=labels, per_text=7.0, features=100_000, words=100.0)


def head_entries(labels: int, steps: int = 8) -> list[Entry]:
    """A few steps of the two methods whose heads have a row per label, with the papers' settings for Amazon-670K.

    For more labels than that, CascadeXML looks into fewer of the last nodes, as the paper does on Amazon-3M."""
    fast = {"encoder.max_tokens": 128, "optim.steps": steps, "optim.log_every": 1}
    groups = next(width for width in (8192, 1024) if 8 * width <= labels)
    lightxml = {
        **fast, "mode": "groups", "tree.widths": [groups], "bottleneck": 400, "beam": 75, "optim.batch_size": 16,
    }  # fmt: skip
    widths = [width for width in (1024, 8192, 65_536) if 8 * width <= labels]
    beams = [128, 256, 400 if labels <= LIGHTXML_UP_TO else 96][: len(widths)]
    cascade = {**fast, "tree.widths": widths, "beams": beams, "optim.batch_size": 64}
    settings = {"lightxml": lightxml} if labels <= LIGHTXML_UP_TO else {}
    settings["cascadexml"] = cascade
    return [
        Entry(
            name=f"treetop-{method}-head",
            title=method,
            peer="treetop",
            settings={"method": method, "texts": True, "assign": assign, "encoder_alone": True},
            needs_texts=True,
            needs_encoder=True,
            once=True,
        )
        for method, assign in settings.items()
    ]
