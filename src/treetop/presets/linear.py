"""Named settings of the linear methods: each is the difference from the method's defaults."""

from __future__ import annotations

from treetop.presets.preset import Preset

__all__ = ["LINEAR"]

LINEAR = (
    Preset(
        "xr-linear",
        "xr-linear",
        "one balanced tree, 16 children per node: fast, and the default",
        "PECOS 1.2 defaults: max_leaf_size 100, nr_splits 16, beam 10, l3-hinge, threshold 0.1",
        {},
    ),
    Preset(
        "accurate",
        "xr-linear",
        "one shallow tree with large leaves and more of its weights: better on the tail, twice the training",
        "chosen on eurlex57k's development split, see docs/experiments",
        {"tree": {"max_leaf": 400, "branching": 64}, "linear": {"solver": {"threshold": 0.05, "eps": 0.5}}},
    ),
    Preset(
        "thorough",
        "xr-linear",
        "each label against all texts that the search confuses with it: near one-vs-all, at a fraction of its cost",
        "X-Transformer's negatives and XR-Transformer's costs (KDD 2020, NeurIPS 2021), see docs/experiments",
        {
            "tree": {"max_leaf": 400, "branching": 64},
            "linear": {
                "negatives": "both",
                "relevance": "count",
                "solver": {"threshold": 0.05, "eps": 0.5, "c_positive": 2.0},
                "search": {"beam": 20, "leaf_link": "sigmoid", "combine": "last"},
            },
        },
    ),
    Preset(
        "parabel",
        "xr-linear",
        "three binary trees that vote",
        "Prabhu et al., WWW 2018, and omikuji's defaults: leaves of 100, C 1, 20 iterations, squared-hinge scores",
        {
            "trees": 3,
            "representation": "pifa-plain",
            "tree": {"branching": 2},
            "linear": {"solver": {"max_iter": 20}, "search": {"link": "l2-hinge"}},
        },
    ),
    Preset(
        "bonsai",
        "xr-linear",
        "three shallow trees with nodes of any size, 100 children per node: better on the tail, slower",
        "Khandagale et al., Machine Learning 2020, and omikuji: k 100, depth 3, C 1, 20 iterations",
        {
            "trees": 3,
            "representation": "pifa-plain",
            "tree": {"kind": "kmeans", "branching": 100, "max_depth": 3},
            "linear": {"solver": {"max_iter": 20}, "search": {"link": "l2-hinge"}},
        },
    ),
    Preset(
        "dismec",
        "one-vs-all",
        "every label against all texts: the reference for small label sets",
        "Babbar and Schölkopf, WSDM 2017: C 1, weights below 0.01 dropped",
        {},
    ),
)
"""The defaults, what was found better, and the published trees."""
