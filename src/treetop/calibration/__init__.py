"""From scores to probabilities, and from probabilities to decisions; both learned from texts that were held out."""

from __future__ import annotations

from treetop.calibration.aims import Aim, parse_aim
from treetop.calibration.calibration import Calibration
from treetop.calibration.evidence import Curve, Evidence

__all__ = ["Aim", "Calibration", "Curve", "Evidence", "parse_aim"]
