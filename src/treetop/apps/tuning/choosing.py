"""From data to settings: which texts are held out to choose on, the search, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treetop.apps.tuning.budget import Budget, in_words
from treetop.apps.tuning.encoded import Encoded, check_encoder, installed, try_encoder
from treetop.apps.tuning.folds import fold_off
from treetop.apps.tuning.journal import Journal
from treetop.apps.tuning.limits import Limits
from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.search import METRICS, Wish, tune
from treetop.data import Dataset
from treetop.data.digests import hashed
from treetop.errors import ConfigError
from treetop.methods.xr_linear import XRLinearConfig
from treetop.metrics.evaluate import parse
from treetop.metrics.ranking import TEXT_METRICS
from treetop.runtime import Runtime, processes

__all__ = ["FEWEST", "Chosen", "choose", "encoder_of", "wish_of"]

FEWEST = 200
"""Texts without which nothing can be chosen."""


class Chosen(NamedTuple):
    """Settings for a data set, and how they were found; without an outcome there was nothing to find them on."""

    config: XRLinearConfig
    outcome: Outcome | None
    held_out: int
    encoded: Encoded | None = None
    """What came of an encoder, if one was given."""

    @property
    def method(self) -> str:
        """The method that was chosen."""
        return "xr-transformer" if self.encoded is not None and self.encoded.pays else "xr-linear"

    @property
    def settings(self) -> Any:
        """Its configuration."""
        return self.encoded.config if self.encoded is not None and self.encoded.pays else self.config


def wish_of(
    budget: str | None = None, trials: int | None = None, metrics: str | None = None, limits: Limits | None = None
) -> Wish:
    """What a search is asked for in the words of the command line."""
    if budget is not None and trials is not None:
        raise ConfigError("--budget and --trials were both given; a search ends by one of them")
    asked = METRICS if metrics is None else tuple(name.strip() for name in metrics.split(","))
    for name in asked:
        if not parse(name).by_text:
            kinds = ", ".join(TEXT_METRICS)
            raise ConfigError(f"settings cannot be chosen by {name}, which is no sum over texts; choose of {kinds}")
    if trials is not None:
        return Wish(asked, Budget(trials=trials), limits or Limits())
    return Wish(asked, Budget() if budget is None else in_words(budget), limits or Limits())


def choose(
    train: Dataset,
    dev: Callable[[], Dataset] | None,
    wish: Wish,
    runtime: Runtime,
    *,
    encoder: str | None = None,
    journal: Path | None = None,
    resume: bool = False,
) -> Chosen:
    """The best settings for these texts, judged on dev texts or on a share of the texts held out.

    With an encoder a last trial says whether it pays to read the texts with it. Without one it is the encoder that is
    installed as a package, if there is one, time is the budget, and no limits are set; "none" is without.
    """
    encoder = encoder_of(encoder, wish)
    if processes() > 1:
        raise ConfigError("several processes would choose different settings; name a method, or choose in one process")
    if len(train) < FEWEST:
        return Chosen(XRLinearConfig(), None, 0)
    folds = fold_off(train, dev, runtime.seed)
    learned, held_out = folds[0]
    wish = replace(wish, limits=wish.limits.scaled(len(learned) / len(train)))
    record = Journal(journal, _facts(learned, held_out, wish, runtime), resume=resume)
    outcome = tune(folds, wish, runtime, record)
    config = outcome.space.config(outcome.chosen.setting)
    if encoder is None or outcome.interrupted or outcome.chosen.texts < len(learned):
        return Chosen(config, outcome, outcome.chosen.judged)
    tried = try_encoder(encoder, config, outcome.chosen_at_first.score, learned, held_out, wish, runtime)
    return Chosen(config, outcome, outcome.chosen.judged, tried)


def encoder_of(asked: str | None, wish: Wish) -> str | None:
    """Which encoder is tried, if one is; that it cannot be is said before the search, not after it."""
    if asked == "none":
        return None
    if asked is None:
        return installed() if wish.budget.seconds is not None and not wish.limits.asked else None
    if wish.limits.asked:
        raise ConfigError(
            f"limits ({wish.limits}) are kept by linear models only; leave out the encoder, or the limits"
        )
    check_encoder(asked)
    return asked


def _facts(learned: Dataset, held_out: Dataset, wish: Wish, runtime: Runtime) -> dict[str, object]:
    """What the order of trials and their figures depend on."""
    texts = [int(np.bitwise_xor.reduce(part.corpus.digests)) for part in (learned, held_out)]
    labels = hashed([part.labels.indices.tobytes() for part in (learned, held_out)]).tolist()
    return {"texts": texts, "labels": labels, "seed": runtime.seed, "metrics": list(wish.metrics)}
