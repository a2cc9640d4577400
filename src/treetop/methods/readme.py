"""The page that stands in every model folder for people, `README.md`, as the Hugging Face Hub shows it.

It says what the model is, how it is loaded, and what it rests on. Nothing reads it, so people may write into it.
Times are in `model.json` alone: equal trainings have equal pages.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from treetop.config import to_dict
from treetop.version import __version__

if TYPE_CHECKING:
    from treetop.methods.base import Method

__all__ = ["readme"]

_TAGS = ("treetop", "extreme-multi-label-classification", "multi-label-classification", "xmc")


def readme(model: Method[Any]) -> str:
    """The page of a fitted model."""
    learned = f"learned from {model.training['texts']:,} texts by treetop {__version__}"
    known = "probabilities, calibrated on held-out texts" if model.calibration is not None else "scores"
    parts = (
        _front_matter(model),
        f"# {model.name}: {len(model.space):,} labels",
        f"Gives a text the few right labels out of {len(model.space):,}, with {known}; {learned}.",
        _LOADING,
        "## Training\n\n" + _table(_facts(model)),
        _held_out(model),
        "## Settings\n\n```json\n" + json.dumps(to_dict(model.config), indent=2, ensure_ascii=False) + "\n```",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


_LOADING = """## Use

```console
$ pip install treetop-xmc
$ treetop predict MODEL texts.csv --k 5
```

```python
import treetop

model = treetop.load("MODEL")  # the path of this folder, or its name on the Hub: "hf:user/name"
for label, score in model.predict(["a text without labels"], k=5)[0]:
    print(label, score)
```"""


def _front_matter(model: Method[Any]) -> str:
    tags = "".join(f"- {tag}\n" for tag in (*_TAGS, model.name))
    metrics = "metrics:\n- f1\n- precision\n- recall\n" if model.calibration is not None else ""
    return f"---\nlibrary_name: treetop\npipeline_tag: text-classification\ntags:\n{tags}{metrics}---"


def _facts(model: Method[Any]) -> dict[str, Any]:
    frequency = model.frequency
    facts = {
        "method": model.name,
        "training texts": f"{model.training['texts']:,}",
        "labels": f"{len(model.space):,}",
        "labels per text": f"{frequency.sum() / max(model.training['texts'], 1):.2f}",
        "labels with at most five training texts": f"{int((frequency <= 5).sum()):,}",
        "seed": model.runtime.seed,
    }
    return facts | model.describe()


def _held_out(model: Method[Any]) -> str:
    """What thresholds did on the texts that the model was calibrated on."""
    if model.calibration is None:
        return ""
    evidence = model.calibration.evidence
    curve = evidence.curve()
    if not len(curve.threshold):
        return ""
    best = int(curve.microf1.argmax())
    told = {
        "texts": f"{evidence.texts:,}",
        "best threshold for F1": f"{curve.threshold[best]:.3f}",
        "micro-F1 there": f"{100 * curve.microf1[best]:.1f} %",
        "precision there": f"{100 * curve.precision[best]:.1f} %",
        "recall there": f"{100 * curve.recall[best]:.1f} %",
    }
    return "## On held-out texts\n\n" + _table(told)


def _table(rows: dict[str, Any]) -> str:
    body = "".join(f"| {name} | {str(value).replace('|', '/')} |\n" for name, value in rows.items())
    return f"| | |\n|---|---|\n{body}".rstrip()
