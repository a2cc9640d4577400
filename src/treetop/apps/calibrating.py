"""How the command line calibrates a model that it trains: on dev texts if there are any, else on some held out for it.

Dev texts cost a prediction. Without them a share of the training texts is held out, if that is asked for: the model is
trained on the others and calibrated, and then trained again on all texts, for which the same maps hold. A model with an
encoder is not trained twice, which may take hours: it does without the texts held out. The first model does not know
labels that only texts held out have: nobody could name these beforehand, and they would be right far too often.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from treetop.data import Dataset, LabelSpace, split_by_ratio
from treetop.errors import ConfigError, DataError
from treetop.methods import Method
from treetop.methods.naming import renewed
from treetop.methods.registry import method_record

__all__ = ["Calibrating", "Naming", "calibrated", "choose_calibrating", "learned"]

_SHARE, _LARGEST_SHARE = 0.1, 0.3  # of the training texts: more of few of them
_FEWEST, _MOST = 200, 10_000


class Naming(NamedTuple):
    """Whether label names may count, and which labels there are beside those of the training texts."""

    wanted: bool = True
    catalogue: LabelSpace | None = None

    def check(self) -> None:
        """Refuse labels that could not be suggested."""
        if self.catalogue is not None and not self.wanted:
            raise ConfigError("--labels-file is given with --no-names, but labels are found by their names only")


_BY_DEFAULT = Naming()


class Calibrating(NamedTuple):
    """Which texts to learn from and to calibrate on, and whether to train again on all."""

    train: Dataset
    held_out: Callable[[], Dataset] | None = None
    """Reads the texts to calibrate on; None: the model is not calibrated."""
    again: Dataset | None = None
    """All texts, to train again on afterwards."""
    naming: Naming = _BY_DEFAULT
    maps: bool = True
    """Whether to calibrate; else texts are held out for the names."""

    def fit(self, model: Method[Any]) -> str | None:
        """Train and calibrate a model; what stood in the way of a calibration, if something did."""
        model.fit(self.train)
        if self.held_out is None:
            return None
        texts = self.held_out()
        problem = learned(model, texts, self.naming, maps=self.maps)
        if self.again is not None:
            first = copy(model)
            model.fit(self.again)
            _hand_on(first, model, texts)
        return problem


def _hand_on(first: Method[Any], model: Method[Any], held_out: Dataset) -> None:
    """What a first model learned from texts held out, for one trained on these, too, which may have more labels."""
    naming = None if first.naming is None else renewed(first.naming, model, held_out)
    space, calibration = model.space if naming is None else naming.space, first.calibration
    if calibration is not None:
        number = np.array([space.index[name] for name in first.space.names])
        calibration = calibration.renumbered(number, len(space))
    model.adopt(naming, calibration)
    model.training |= {key: value for key, value in first.training.items() if key == "label_names"}


def learned(model: Method[Any], held_out: Dataset, naming: Naming, *, maps: bool = True) -> str | None:
    """Learn what names are worth, then calibrate; what stood in the way, if something did."""
    if naming.wanted:
        try:
            model.learn_names(held_out, catalogue=naming.catalogue)
        except DataError as error:
            return str(error)
    return calibrated(model, held_out) if maps else None


def calibrated(model: Method[Any], held_out: Dataset) -> str | None:
    """Calibrate a model if the texts allow it; if not, why. A model without probabilities is better than none."""
    try:
        model.calibrate(held_out)
    except DataError as error:
        return str(error)
    return None


def choose_calibrating(
    name: str,
    dataset: Dataset,
    dev: Callable[[], Dataset] | None,
    wanted: bool | None,
    seed: int,
    naming: Naming = _BY_DEFAULT,
) -> Calibrating:
    """What is done for a method: with dev texts unless it is not wanted, without them only if it is wanted.

    Labels that no training text has are of use only if names are learned, so a catalogue is a wish for that.
    """
    naming.check()
    maps = wanted is not False
    if naming.catalogue is None and (not maps or (wanted is None and dev is None)):
        return Calibrating(dataset)
    if dev is not None:
        return Calibrating(dataset, dev, naming=naming, maps=maps)
    by_texts = bool(dataset.frequency.all())  # labels are those that texts have, and not from a list of all there are
    share = min(max(_SHARE, _FEWEST / len(dataset)), _LARGEST_SHARE, _MOST / len(dataset))
    rest, held_out = split_by_ratio(dataset, 1 - share, seed)
    rest = rest.with_own_labels() if by_texts else rest  # texts to come have labels that no list names beforehand
    return Calibrating(rest, lambda: held_out, None if method_record(name).has("encoder") else dataset, naming, maps)
