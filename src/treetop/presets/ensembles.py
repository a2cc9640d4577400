"""The ensembles behind the papers' tables: which models, and how their rankings become one.

On the three smaller benchmarks LightXML, XR-Transformer and CascadeXML train their three models on three encoders; on
the larger ones BERT three times, with other label clusters or random starts, which here is another seed. X-Transformer
has nine: three representations of the labels on three large encoders. Where a paper names no fuser, it is that of its
authors' scripts.
"""

from __future__ import annotations

from typing import Any

from treetop.presets.preset import Member

__all__ = ["fuser_of", "members_of"]

BASE = {"bert": "bert-base-uncased", "roberta": "roberta-base", "xlnet": "xlnet-base-cased"}
LARGE = {
    "bert": "bert-large-cased-whole-word-masking",
    "roberta": "roberta-large",
    "xlnet": "xlnet-large-cased",
}  # fmt: skip
ON_THREE_ENCODERS = ("Eurlex-4K", "Wiki10-31K", "AmazonCat-13K")

REPRESENTATIONS: dict[str, dict[str, Any]] = {
    "pifa": {"representation": "pifa"},
    "pifa-neural": {"representation": "pifa-neural", "label_encoder": "xlnet-large-cased"},
    "text": {"representation": "text", "label_encoder": "roberta-large"},
}
"""Section 3.2 of X-Transformer; the encoders that read labels are the scripts', theirs tuned for pifa-neural."""

XR_FUSERS = {
    "Eurlex-4K": "softmax_average",
    "Wiki10-31K": "rank_average",
    "AmazonCat-13K": "softmax_average",
    "Wiki-500K": "sigmoid_average",
    "Amazon-670K": "softmax_average",
    "Amazon-3M": "rank_average",
}
"""Of the scripts; the paper does not say."""


def members_of(method: str, dataset: str) -> tuple[Member, ...]:
    """The models of a paper's ensemble on a benchmark."""
    if method == "x-transformer":
        return tuple(
            Member(f"{kind}-{name}", {**labels, "encoder": {"name": encoder}})
            for kind, labels in REPRESENTATIONS.items()
            for name, encoder in LARGE.items()
        )
    if dataset in ON_THREE_ENCODERS:
        return tuple(Member(name, {"encoder": {"name": encoder}}) for name, encoder in BASE.items())
    return tuple(Member(f"seed-{seed}", seed=seed) for seed in range(3))


def fuser_of(method: str, dataset: str) -> str:
    """How the paper fuses these."""
    return {"x-transformer": "rank_average", "xr-transformer": XR_FUSERS.get(dataset, "")}.get(method, "average")
