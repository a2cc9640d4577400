"""How the command line calibrates a model that it trains: on dev texts if there are any, else on some held out for it.

Dev texts cost a prediction. Without them a share of the training texts is held out, if that is asked for: the model is
trained on the others and calibrated, and then trained again on all texts, for which the same maps hold. A model with an
encoder is not trained twice, which may take hours: it does without the texts held out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from treetop.data import Dataset, split_by_ratio
from treetop.errors import DataError
from treetop.methods import Method
from treetop.methods.registry import method_record

__all__ = ["Calibrating", "calibrated", "choose_calibrating"]

_SHARE, _LARGEST_SHARE = 0.1, 0.3  # of the training texts: more of few of them
_FEWEST, _MOST = 200, 10_000


class Calibrating(NamedTuple):
    """Which texts to learn from and to calibrate on, and whether to train again on all."""

    train: Dataset
    held_out: Callable[[], Dataset] | None = None
    """Reads the texts to calibrate on; None: the model is not calibrated."""
    again: Dataset | None = None
    """All texts, to train again on afterwards."""

    def fit(self, model: Method[Any]) -> str | None:
        """Train and calibrate a model; what stood in the way of a calibration, if something did."""
        model.fit(self.train)
        if self.held_out is None:
            return None
        problem = calibrated(model, self.held_out())
        if self.again is not None:
            calibration = model.calibration
            model.fit(self.again)
            model.calibration = None if calibration is None else calibration.moved(model.frequency)
        return problem


def calibrated(model: Method[Any], held_out: Dataset) -> str | None:
    """Calibrate a model if the texts allow it; if not, why. A model without probabilities is better than none."""
    try:
        model.calibrate(held_out)
    except DataError as error:
        return str(error)
    return None


def choose_calibrating(
    name: str, dataset: Dataset, dev: Callable[[], Dataset] | None, wanted: bool | None, seed: int
) -> Calibrating:
    """What is done for a method: with dev texts unless it is not wanted, without them only if it is wanted."""
    if wanted is False or (wanted is None and dev is None):
        return Calibrating(dataset)
    if dev is not None:
        return Calibrating(dataset, dev)
    share = min(max(_SHARE, _FEWEST / len(dataset)), _LARGEST_SHARE, _MOST / len(dataset))
    rest, held_out = split_by_ratio(dataset, 1 - share, seed)
    return Calibrating(rest, lambda: held_out, None if method_record(name).has("encoder") else dataset)
