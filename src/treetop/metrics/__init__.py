"""How good predictions are: by name with `evaluate`, by label frequency with `breakdown`, compared in pairs."""

from __future__ import annotations

from treetop.metrics.breakdown import BAND_WORDS, BANDS, bands_by_mass, breakdown
from treetop.metrics.calibration import Reliability, brier_score, expected_calibration_error, reliability
from treetop.metrics.differences import Difference, Spread, holm, paired_difference, spread, spread_of_bands
from treetop.metrics.evaluate import DEFAULT, PROPENSITY_SCORED, evaluate, largest_k
from treetop.metrics.labelwise import at_threshold, best_threshold, f1
from treetop.metrics.propensity import Propensity, label_frequency
from treetop.metrics.truth import counted

__all__ = [
    "BANDS",
    "BAND_WORDS",
    "DEFAULT",
    "PROPENSITY_SCORED",
    "Difference",
    "Propensity",
    "Reliability",
    "Spread",
    "at_threshold",
    "bands_by_mass",
    "best_threshold",
    "breakdown",
    "brier_score",
    "counted",
    "evaluate",
    "expected_calibration_error",
    "f1",
    "holm",
    "label_frequency",
    "largest_k",
    "paired_difference",
    "reliability",
    "spread",
    "spread_of_bands",
]
