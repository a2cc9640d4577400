"""Named settings of the methods on encoders by what they cost; each is the difference from the method's defaults."""

from __future__ import annotations

from treetop.presets.preset import Preset

__all__ = ["ENCODERS"]

ENCODERS = (
    Preset(
        "instant",
        "xr-transformer",
        "nothing is fine-tuned: the encoder reads every text once, linear classifiers learn from that and from words",
        "XR-Transformer's last step alone (NeurIPS 2021, eq. 10), see docs/encoder.md",
        {"optim": {"epochs": 0}, "bootstrap": "none", "finest": 1, "tfidf": {"word_ngrams": [1, 2], "min_df": 2}},
    ),
)
