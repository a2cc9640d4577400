"""The transformer papers' hyper-parameters for their benchmarks, each with the results published for it.

A number that the paper states is the paper's, also where its authors' released scripts have another; what it leaves
open is from these scripts, marked "scripts" here. The encoder is the paper's BERT, and `members` are the models of its
ensemble (`treetop reproduce` trains them all). Batches are those of all the authors' GPUs together.

Neither the papers nor the scripts give these, so our defaults stay: the options of tf-idf.
"""

from __future__ import annotations

from typing import Any

from treetop.presets.ensembles import fuser_of, members_of
from treetop.presets.preset import Preset, Published, Three
from treetop.presets.reported import with_reported

__all__ = ["PAPERS"]

BERT = "bert-base-uncased"
BERT_LARGE = "bert-large-cased-whole-word-masking"

X_TRANSFORMER = "Chang et al., KDD 2020"
LIGHTXML = "Jiang et al., AAAI 2021"
XR_TRANSFORMER = "Zhang et al., NeurIPS 2021"
CASCADEXML = "Kharbanda et al., NeurIPS 2022"


def _x_transformer(
    dataset: str, clusters: int, lr: float, steps: int, warmup: int, nine: Three, *more: Published
) -> Preset:
    """Section 4.2 (batch 256, 128 tokens, steps, rates) and Table 2 (clusters); warm-up and threshold: scripts."""
    values: dict[str, Any] = {
        "encoder": {"name": BERT_LARGE, "max_tokens": 128, "pooling": "pooler", "attention_dropout": 0.1},
        "optim": {
            "lr": lr, "steps": steps, "warmup": warmup, "batch_size": 16, "accumulate": 16, "weight_decay": 0.0,
            "schedule": "linear", "clip": 1.0,
        },
        "tree": {"widths": [clusters]},
        "bootstrap": "none",
        "negatives": "both",
        "solver": {"threshold": 0.01},
        "search": {"beam": 10},
    }  # fmt: skip
    published = (Published("9 models", nine, f"{X_TRANSFORMER}, Table 3"), *more)
    source = f"{X_TRANSFORMER}, section 4.2 and Table 2; scripts"
    return _preset("x-transformer", dataset, "one of the nine models, on PIFA", source, values, published)


def _lightxml(
    dataset: str, epochs: int, batch: int, average_from: int, average_every: int, three: Three,
    *more: Published, bottleneck: int = 0, beam: int = 0, tokens: int = 512,
) -> Preset:  # fmt: skip
    """Experiment settings and Table 1; the course of the averaging, groups and how many are ranked: scripts.

    The scripts run five epochs more than the paper and their flag say.
    """
    values: dict[str, Any] = {
        "encoder": {"name": BERT, "max_tokens": tokens, "attention_dropout": 0.1},
        "optim": {
            "lr": 1e-4, "head_lr_factor": 1.0, "schedule": "constant", "warmup": 0.0, "weight_decay": 0.01,
            "head_weight_decay": 0.01, "epochs": epochs, "batch_size": batch, "clip": 0.0,
            "average": "swa", "average_from": round(average_from / epochs, 4), "average_every": average_every,
        },
        "layers": 5,
        "dropout": 0.5,
        "bootstrap": "none",
        "mode": "groups" if bottleneck else "flat",
    }  # fmt: skip
    if bottleneck:
        values |= {"tree": {"widths": [8192]}, "bottleneck": bottleneck, "beam": beam}
    published = (Published("3 models", three, f"{LIGHTXML}, Table 3"), *more)
    what = f"{'groups of labels' if bottleneck else 'no groups'}, {tokens} tokens"
    return _preset(
        "lightxml", dataset, what, f"{LIGHTXML}, experiment settings and Table 1; scripts", values, published
    )


def _xr_transformer(
    dataset: str, coarse: list[int], fine: list[int], lr: float, steps: list[int], warmup: int, tokens: int,
    alpha: float | None, lam: float, beam: int, ranker_beam: int, three: Three, *more: Published,
    threshold: float = 0.001, eps: float = 0.1,
) -> Preset:  # fmt: skip
    """Appendix A.3 and Table 7; warm-up, beams, threshold and eps of the ranker: scripts.

    Table 7 has the sum of the steps of all levels, which are divided as the scripts divide theirs. (These have sums of
    their own for Eurlex-4K, 2,600, and Wiki10-31K, 2,400, and BERT's rate there and on AmazonCat-13K is 5e-5.)
    The ranker's costs are C = 1/λ for a positive and α/λ for a negative text, as in the scripts but for AmazonCat-13K
    (0.25, 0.5) and the negatives of Eurlex-4K (4); α None is without cost-sensitivity.
    The scripts keep different beams at different levels of the ranker; here the widest serves all.
    """
    share = 1.0 if alpha is None else alpha
    values: dict[str, Any] = {
        "encoder": {"name": BERT, "max_tokens": tokens, "pooling": "pooler", "dropout": 0.1, "attention_dropout": 0.1},
        "optim": {
            "lr": lr, "warmup": warmup, "batch_size": 32, "accumulate": 8, "weight_decay": 0.0, "schedule": "linear",
            "clip": 1.0,
        },
        "steps": steps,
        "coarse_tree": {"widths": coarse},
        "fine_tree": {"widths": fine},
        "finest": 32_768,
        "beam": beam,
        "rivals": "linear",
        "bootstrap": "linear",
        "dropout": 0.1,
        "relevance": "off" if alpha is None else "share",
        "negative": share,
        "ranker": {
            "solver": {"c_positive": 1 / lam, "c_negative": share / lam, "threshold": threshold, "eps": eps},
            "search": {"beam": ranker_beam},
            "relevance": "off" if alpha is None else "count",
        },
    }  # fmt: skip
    published = (Published("3 models", three, f"{XR_TRANSFORMER}, Table 2"), *more)
    what = f"{'-'.join(map(str, coarse))}, then labels on {'-'.join(map(str, fine))}"
    return _preset("xr-transformer", dataset, what, f"{XR_TRANSFORMER}, A.3 and Table 7; scripts", values, published)


def _cascadexml(
    dataset: str, widths: list[int], layers: list[list[int]], beams: list[int], dropouts: list[float], epochs: int,
    tokens: int, scores: str, three: Published, with_tfidf: Published, *more: Published, warm: int = 1,
) -> Preset:  # fmt: skip
    """Appendix A.2 and Table 9; lengths of the three phases (epochs), weight decay, beta1, scores, smoothing: scripts.

    Table 9 states sizes of shortlists; a beam is that size over the children of a node.
    """
    values: dict[str, Any] = {
        "encoder": {"name": BERT, "max_tokens": tokens, "attention_dropout": 0.1},
        "optim": {
            "lr": 1e-4, "head_lr_factor": 10.0, "weight_decay": 0.05, "head_weight_decay": 0.005, "epochs": epochs,
            "schedule": "one_cycle", "warmup": round(warm / epochs, 4), "cool_down": round(3 / epochs, 4),
            "batch_size": 64, "accumulate": 4, "clip": 0.0, "cycle_beta1": True,
        },
        "tree": {"widths": widths},
        "smooth": True,
        "layers": layers,
        "beams": beams,
        "dropouts": dropouts,
        "forcing": "nodes",
        "rescale": True,
        "scores": scores,
        "bootstrap": "none",
    }  # fmt: skip
    what = f"levels of {', '.join(f'{width:,}' for width in widths)} and labels; tf-idf with sparse=true linear_share=1"
    source = f"{CASCADEXML}, A.2 and Table 9; scripts"
    return _preset("cascadexml", dataset, what, source, values, (three, with_tfidf, *more))


def _preset(
    method: str, dataset: str, what: str, source: str, values: dict[str, Any], published: tuple[Published, ...]
) -> Preset:
    name = f"{method}-{dataset.lower()}"
    return Preset(
        name, method, f"as published for {dataset}: {what}", source, values, dataset,
        tuple(with_reported(row, method, dataset) for row in published), members_of(method, dataset),
        fuser_of(method, dataset),
    )  # fmt: skip


def _single(precision: Three, source: str) -> Published:
    return Published("1 model", precision, source)


def _cascade_table(number: int, plain: Three, with_tfidf: Three) -> tuple[Published, Published]:
    source = f"{CASCADEXML}, Table {number}"
    return Published("3 models", plain, source), Published("3 models, tf-idf", with_tfidf, source)


XR_SINGLE, LIGHT_SINGLE, CASCADE_SINGLE = f"{XR_TRANSFORMER}, Table 4", f"{LIGHTXML}, Table 4", f"{CASCADEXML}, Table 4"
X_SINGLE = f"{X_TRANSFORMER}, Table 5"
FOUR_LEVELS = [[5, 6], [8], [10], [12]]

PAPERS = (
    _x_transformer("Eurlex-4K", 64, 5e-5, 1_000, 100, (87.22, 75.12, 62.90), _single((85.51, 72.95, 60.83), X_SINGLE)),
    _x_transformer("Wiki10-31K", 512, 5e-5, 1_400, 100, (88.51, 78.71, 69.62), _single((87.5, 77.2, 67.1), XR_SINGLE)),
    _x_transformer("AmazonCat-13K", 256, 8e-5, 20_000, 2_000, (96.70, 83.85, 68.58)),
    _x_transformer(
        "Wiki-500K", 8192, 6e-5, 50_000, 1_000, (77.28, 57.47, 45.31), _single((74.68, 53.64, 41.50), X_SINGLE)
    ),
    _lightxml("Eurlex-4K", 20, 16, 10, 200, (87.63, 75.89, 63.36)),
    _lightxml("Wiki10-31K", 30, 16, 10, 300, (89.45, 78.96, 69.85), _single((87.8, 77.3, 68.0), XR_SINGLE)),
    _lightxml("AmazonCat-13K", 5, 16, 2, 10_000, (96.77, 84.02, 68.70)),
    _lightxml(
        "Wiki-500K", 10, 32, 4, 3_000, (77.78, 58.85, 45.57), _single((76.19, 57.22, 44.12), LIGHT_SINGLE),
        bottleneck=500, beam=32, tokens=128,
    ),
    _lightxml(
        "Amazon-670K", 15, 16, 4, 3_000, (49.10, 43.83, 39.85), _single((47.14, 42.02, 38.23), LIGHT_SINGLE),
        bottleneck=400, beam=75, tokens=128,
    ),
    _xr_transformer(
        "Eurlex-4K", [16, 256], [4, 32, 256], 5e-5, [554, 738, 1_108], 100, 128, 1.0, 0.5, 5, 100,
        (88.41, 75.97, 63.18),
    ),
    _xr_transformer(
        "Wiki10-31K", [128, 2048], [8, 128, 2048], 1e-4, [1_667, 1_667, 666], 100, 256, 0.25, 0.25, 20, 100,
        (88.69, 80.17, 70.91), _single((88.0, 78.7, 69.1), XR_SINGLE),
    ),
    _xr_transformer(
        "AmazonCat-13K", [128, 1024], [128, 1024], 1e-4, [5_000, 10_000, 30_000], 1_000, 256, 2.0, 2.0, 50, 200,
        (96.79, 83.66, 68.04), threshold=1e-4, eps=0.01,
    ),
    _xr_transformer(
        "Wiki-500K", [64, 512, 4096, 32768], [8, 256, 8192], 1e-4, [10_000, 10_000, 20_000, 20_000], 5_000, 128,
        0.25, 0.25, 5, 50, (79.40, 59.02, 46.25), _single((78.1, 57.6, 45.0), XR_SINGLE),
    ),
    _xr_transformer(
        "Amazon-670K", [128, 2048, 32768], [8, 256, 8192], 1e-4, [4_000, 4_000, 12_000], 200, 128, None, 1.0, 5, 75,
        (50.11, 44.56, 40.64), _single((49.1, 43.8, 40.0), XR_SINGLE),
    ),
    _xr_transformer(
        "Amazon-3M", [128, 2048, 32768], [8, 256, 8192], 1e-4, [10_000, 10_000, 10_000], 1_000, 128, 0.125, 0.125,
        20, 50, (54.20, 50.81, 48.26), _single((52.6, 49.4, 46.9), f"{XR_TRANSFORMER}, Table 6"),
    ),
    _cascadexml(
        "Wiki10-31K", [512, 4096], [[9, 10], [11], [12]], [64, 64], [0.3, 0.3, 0.4], 15, 256, "parent",
        *_cascade_table(3, (89.74, 80.13, 70.75), (89.18, 79.71, 71.19)), _single((88.4, 78.3, 68.9), CASCADE_SINGLE),
        warm=2,
    ),
    _cascadexml(
        "AmazonCat-13K", [256, 2048], [[7, 8], [10], [12]], [32, 40], [0.2, 0.3, 0.4], 6, 256, "leaf",
        *_cascade_table(3, (96.90, 84.13, 68.78), (96.71, 84.07, 68.69)),
    ),
    _cascadexml(
        "Wiki-500K", [1024, 8192, 65536], FOUR_LEVELS, [128, 256, 512], [0.2, 0.25, 0.35, 0.5], 12, 128, "leaf",
        *_cascade_table(2, (78.39, 59.86, 46.49), (81.13, 62.43, 49.12)), _single((77.0, 58.3, 45.1), CASCADE_SINGLE),
    ),
    _cascadexml(
        "Amazon-670K", [1024, 8192, 65536], FOUR_LEVELS, [128, 256, 400], [0.2, 0.25, 0.4, 0.5], 15, 128, "parent",
        *_cascade_table(2, (50.22, 45.20, 41.45), (52.15, 46.54, 42.44)), _single((48.5, 43.7, 40.0), CASCADE_SINGLE),
    ),
    _cascadexml(
        "Amazon-3M", [1024, 8192, 65536], FOUR_LEVELS, [128, 256, 96], [0.2, 0.25, 0.3, 0.5], 15, 128, "parent",
        *_cascade_table(2, (52.75, 50.83, 48.90), (53.91, 51.24, 49.52)),
        _single((51.3, 49.0, 46.9), f"{CASCADEXML}, Table 7"),
    ),
)  # fmt: skip
"""X-Transformer, LightXML, XR-Transformer and CascadeXML on the datasets that each of the papers reports."""
