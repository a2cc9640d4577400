"""Facts about the public benchmarks: their sizes and the constants of their propensity model.

Sizes are those of the raw-text releases that the transformer papers share (from the AttentionXML repository), which
differ a little from the bag-of-words releases of the Extreme Classification Repository. LightXML's Table 2 gives
501,008 labels for Wiki-500K where the other papers have 501,070.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from treetop.errors import ConfigError
from treetop.metrics import Propensity

__all__ = ["BENCHMARKS", "PROPENSITY_CONSTANTS", "Benchmark", "benchmark", "known_by_size", "propensity_constants"]

Fact = TypeVar("Fact")

XR_TABLE_1 = "Zhang et al., XR-Transformer, NeurIPS 2021, Table 1"
CHALKIDIS = "Chalkidis et al., Large-Scale Multi-Label Text Classification on EU Legislation, ACL 2019"

WIKIPEDIA = (0.5, 0.4)
AMAZON_ITEMS = (0.6, 2.6)
OTHERWISE = (0.55, 1.5)

PROPENSITY_CONSTANTS: dict[str, tuple[float, float]] = {
    "eurlex-4k": OTHERWISE,
    "eurlex57k": OTHERWISE,
    "wiki10-31k": OTHERWISE,
    "amazoncat-13k": OTHERWISE,
    "wiki-500k": WIKIPEDIA,
    "wikilshtc-325k": WIKIPEDIA,
    "lf-wikipedia-500k": WIKIPEDIA,
    "lf-wikititles-500k": WIKIPEDIA,
    "lf-wikiseealso-320k": OTHERWISE,
    "lf-wikiseealsotitles-320k": OTHERWISE,
    "amazon-670k": AMAZON_ITEMS,
    "amazontitles-670k": AMAZON_ITEMS,
    "amazon-3m": AMAZON_ITEMS,
    "amazontitles-3m": AMAZON_ITEMS,
    "lf-amazon-131k": AMAZON_ITEMS,
    "lf-amazontitles-131k": AMAZON_ITEMS,
    "lf-amazontitles-1.3m": AMAZON_ITEMS,
}
"""A and B of Jain et al. (KDD 2016) by lower-case name; 0.55 and 1.5 are for all data without constants of its own.

CascadeXML's code uses 0.6 and 2.6 for Eurlex-4K, against the convention followed here.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """A public dataset as the papers use it."""

    name: str
    train_texts: int
    test_texts: int
    labels: int
    labels_per_text: float
    """On average, in training."""
    texts_per_label: float | None = None
    """On average, in training."""
    features: int | None = None
    """Columns of the tf-idf matrix that comes with it."""
    source: str = XR_TABLE_1
    """Where the sizes are from."""

    @property
    def propensity(self) -> Propensity:
        """Its propensity model."""
        a, b = propensity_constants(self.name)
        return Propensity(train_texts=self.train_texts, a=a, b=b)


BENCHMARKS: dict[str, Benchmark] = {
    known.name.lower(): known
    for known in (
        Benchmark(
            name="Eurlex-4K",
            train_texts=15_449,
            test_texts=3_865,
            labels=3_956,
            labels_per_text=5.30,
            texts_per_label=20.79,
            features=186_104,
        ),
        Benchmark(
            name="Wiki10-31K",
            train_texts=14_146,
            test_texts=6_616,
            labels=30_938,
            labels_per_text=18.64,
            texts_per_label=8.52,
            features=101_938,
        ),
        Benchmark(
            name="AmazonCat-13K",
            train_texts=1_186_239,
            test_texts=306_782,
            labels=13_330,
            labels_per_text=5.04,
            texts_per_label=448.57,
            features=203_882,
        ),
        Benchmark(
            name="Wiki-500K",
            train_texts=1_779_881,
            test_texts=769_421,
            labels=501_070,
            labels_per_text=4.75,
            texts_per_label=16.86,
            features=2_381_304,
        ),
        Benchmark(
            name="Amazon-670K",
            train_texts=490_449,
            test_texts=153_025,
            labels=670_091,
            labels_per_text=5.45,
            texts_per_label=3.99,
            features=135_909,
        ),
        Benchmark(
            name="Amazon-3M",
            train_texts=1_717_899,
            test_texts=742_507,
            labels=2_812_281,
            labels_per_text=36.04,
            texts_per_label=22.02,
            features=337_067,
        ),
        Benchmark(
            name="EURLEX57K", train_texts=45_000, test_texts=6_000, labels=4_271, labels_per_text=5.07, source=CHALKIDIS
        ),
    )
}
"""By lower-case name. Labels of EURLEX57K are those of train, dev and test together."""


_REPOSITORY = {
    "eurlex-4k": (15_539, 3_993),
    "wikilshtc-325k": (1_778_351, 325_056),
    "lf-wikipedia-500k": (1_813_391, 501_070),
    "lf-wikiseealso-320k": (693_082, 312_330),
    "amazontitles-670k": (485_176, 670_091),
    "amazontitles-3m": (1_712_536, 2_812_281),
    "lf-amazon-131k": (294_805, 131_073),
    "lf-amazontitles-1.3m": (2_248_619, 1_305_265),
}
"""Training texts and labels of what the Extreme Classification Repository releases itself. Benchmarks of titles have
the sizes, and the constants, of those whose titles they are."""


def known_by_size(train_texts: int, labels: int) -> str | None:
    """The public dataset with so many training texts and so many labels, if there is one.

    A release may count labels that no training text has; up to a twentieth of all may be missing.
    """
    sizes = {name: (known.train_texts, known.labels) for name, known in BENCHMARKS.items()}
    for name, (texts, all_labels) in (*sizes.items(), *_REPOSITORY.items()):
        if texts == train_texts and 0.95 * all_labels <= labels <= all_labels:
            return name
    return None


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name, in any case."""
    return _look_up(name, BENCHMARKS)


def propensity_constants(name: str | None = None) -> tuple[float, float]:
    """A and B of a public dataset, its name in any case; 0.55 and 1.5 for data of one's own, which has no name here."""
    return OTHERWISE if name is None else _look_up(name, PROPENSITY_CONSTANTS)


def _look_up(name: str, table: Mapping[str, Fact]) -> Fact:
    if name.lower() not in table:
        near = get_close_matches(name.lower(), table, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(f"there is no benchmark '{name}'; {hint}known are {', '.join(table)}")
    return table[name.lower()]
