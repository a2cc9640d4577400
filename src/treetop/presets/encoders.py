"""Named settings of the methods on encoders by what they cost; each is the difference from the method's defaults."""

from __future__ import annotations

from treetop.presets.preset import Preset

__all__ = ["ENCODERS"]

_PAIRS = {"word_ngrams": [1, 2], "min_df": 2}

ENCODERS = (
    Preset(
        "instant",
        "xr-transformer",
        "nothing is fine-tuned: the encoder reads every text once, linear classifiers learn from that and from words",
        "XR-Transformer's last step alone (NeurIPS 2021, eq. 10), see docs/encoder.md",
        {"optim": {"epochs": 0}, "bootstrap": "none", "finest": 1, "tfidf": _PAIRS},
    ),
    Preset(
        "tuned",
        "xr-transformer",
        "the encoder's last two layers are tuned for 600 steps before it reads: about as long again as `instant` takes",
        "chosen on development texts of two data sets, see docs/encoder.md",
        {
            "encoder": {"freeze": -2, "keep_frozen": True},
            "optim": {"lr": 1e-4, "head_lr_factor": 10.0, "batch_size": 32},
            "steps": [250, 350],
            "finest": 4096,
            "beam": 20,
            "tfidf": _PAIRS,
        },
    ),
    Preset(
        "best",
        "ensemble",
        "three models that vote: `thorough`, `tuned`, and LightXML with all layers of its encoder tuned; takes hours",
        "what erred least together on development texts, see docs/encoder.md; votes are chosen on texts held out",
        {"members": ["thorough", "tuned", "lightxml"], "dev_share": 0.05},
    ),
)
"""From the cheapest on."""
