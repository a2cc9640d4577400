"""How good predictions are: by name with `evaluate`, by label frequency with `breakdown`, compared in pairs."""

from __future__ import annotations

from treetop.metrics.breakdown import BANDS, bands_by_mass, breakdown
from treetop.metrics.calibration import expected_calibration_error
from treetop.metrics.evaluate import DEFAULT, PROPENSITY_SCORED, Difference, evaluate, largest_k, paired_difference
from treetop.metrics.labelwise import at_threshold, best_threshold, f1
from treetop.metrics.propensity import Propensity, label_frequency

__all__ = [
    "BANDS",
    "DEFAULT",
    "PROPENSITY_SCORED",
    "Difference",
    "Propensity",
    "at_threshold",
    "bands_by_mass",
    "best_threshold",
    "breakdown",
    "evaluate",
    "expected_calibration_error",
    "f1",
    "label_frequency",
    "largest_k",
    "paired_difference",
]
