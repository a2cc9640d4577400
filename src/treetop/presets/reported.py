"""What the papers report beside precision: propensity-scored precision, and hours of training with the hardware.

Tables 8 and 11 of XR-Transformer, Tables 4, 6 and 10 of CascadeXML, Table 6 of LightXML. CascadeXML's Table 6 gives
other PSP values for XR-Transformer than that paper's own Table 11, which is no share of the best possible (eq. 14);
each paper's own are kept, and CascadeXML's for what XR-Transformer's leaves out.
"""

from __future__ import annotations

from dataclasses import replace

from treetop.presets.preset import Published, Three

__all__ = ["with_reported"]

PSP: dict[tuple[str, str], dict[str, Three]] = {
    ("xr-transformer", "3 models"): {
        "Wiki10-31K": (12.25, 15.00, 16.75),
        "AmazonCat-13K": (50.72, 65.66, 75.95),
        "Wiki-500K": (35.76, 42.22, 46.36),
        "Amazon-670K": (36.16, 38.39, 40.99),
        "Amazon-3M": (20.52, 23.64, 25.79),
    },
    ("cascadexml", "1 model"): {
        "Wiki10-31K": (13.22, 14.70, 16.10),
        "AmazonCat-13K": (52.08, 67.46, 76.19),
        "Wiki-500K": (31.25, 39.35, 43.29),
        "Amazon-670K": (30.23, 34.93, 38.79),
    },
    ("cascadexml", "3 models"): {
        "Wiki10-31K": (13.36, 15.06, 16.56),
        "AmazonCat-13K": (52.68, 68.50, 77.52),
        "Wiki-500K": (32.60, 42.03, 46.66),
        "Amazon-670K": (31.19, 36.07, 40.15),
    },
    ("cascadexml", "3 models, tf-idf"): {
        "Wiki10-31K": (13.32, 15.35, 17.45),
        "AmazonCat-13K": (51.39, 66.81, 77.58),
        "Wiki-500K": (32.12, 43.15, 49.37),
        "Amazon-670K": (30.77, 35.78, 40.52),
    },
}

ONE, FOUR, EIGHT = "1 V100", "4 V100", "8 V100"

HOURS: dict[tuple[str, str], tuple[str, dict[str, float]]] = {
    ("x-transformer", "9 models"): (
        EIGHT,
        {"Eurlex-4K": 7.5, "Wiki10-31K": 14.1, "AmazonCat-13K": 147.6, "Wiki-500K": 557.1},
    ),
    ("x-transformer", "1 model"): (EIGHT, {"Wiki10-31K": 3.5}),
    ("lightxml", "3 models"): (
        ONE,
        {"Eurlex-4K": 16.9, "Wiki10-31K": 26.9, "AmazonCat-13K": 310.6, "Wiki-500K": 271.3, "Amazon-670K": 159.0},
    ),
    ("lightxml", "1 model"): (ONE, {"Wiki10-31K": 6.7, "Wiki-500K": 34.33, "Amazon-670K": 28.75}),
    ("xr-transformer", "3 models"): (
        EIGHT,
        {
            "Eurlex-4K": 0.8, "Wiki10-31K": 1.5, "AmazonCat-13K": 13.2, "Wiki-500K": 38.0, "Amazon-670K": 10.5,
            "Amazon-3M": 29.3,
        },
    ),
    ("xr-transformer", "1 model"): (EIGHT, {"Wiki10-31K": 0.5, "Wiki-500K": 12.5, "Amazon-670K": 3.4}),
    ("cascadexml", "3 models"): (
        FOUR,
        {"Wiki10-31K": 0.4, "AmazonCat-13K": 9.8, "Wiki-500K": 21.6, "Amazon-670K": 9.0, "Amazon-3M": 30.0},
    ),
    ("cascadexml", "1 model"): (FOUR, {"Wiki10-31K": 0.1, "Wiki-500K": 7.2, "Amazon-670K": 3.0}),
}  # fmt: skip


def with_reported(row: Published, method: str, dataset: str) -> Published:
    """The row of a table with what else is reported for its models."""
    hardware, hours = HOURS.get((method, row.models), ("", {}))
    known = hours.get(dataset)
    psp = PSP.get((method, row.models), {}).get(dataset)
    return replace(row, psp=psp, hours=known, hardware=hardware if known is not None else "")
