"""A look inside a trained transformer model: the analyses of CascadeXML's appendix B, and pictures of them.

Beside the tuned encoder stands the one it began as, so that what fine-tuning changed can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treetop.data import Dataset
from treetop.errors import ConfigError, DataError, MissingExtraError, TreetopError
from treetop.methods import Method
from treetop.methods.fine_tuned import FineTuned
from treetop.neural.analysis import PooledAttention, layer_similarity, layer_states, pooled_attention, shortlist_recall
from treetop.text.encoder import TextEncoder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Analysis", "analyse", "draw"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The figures of one model on some texts."""

    recall: list[float]
    """Share of the true nodes that search keeps, for each level above the labels; empty for other methods."""
    widths: list[int]
    """Nodes of those levels."""
    attention: PooledAttention
    """Of the tuned encoder's pooled token."""
    before: PooledAttention | None
    """The same before tuning; None if that encoder cannot be loaded any more."""
    similarity: NDArray[np.float64] | None
    """PWCCA of the tuned encoder's layers; None if there are too few texts to tell."""
    remark: str = ""
    """Why there is none."""


def analyse(model: Method[Any], dataset: Dataset) -> Analysis:
    """Look at a model through the texts of a dataset; some thousand are enough."""
    if not isinstance(model, FineTuned):
        raise ConfigError(f"method '{model.name}' has no encoder to look into; give a model of a transformer method")
    encoder = model.text_encoder
    texts = list(dataset.corpus.texts)
    if not texts:
        raise DataError("there are no texts to look at; give at least one")
    tokens = encoder.tokenize(texts, runtime=model.runtime)
    similarity, remark = None, ""
    try:
        similarity = layer_similarity(layer_states(encoder, tokens, model.runtime)[1:], model.runtime)
    except DataError as error:
        remark = str(error)
    try:
        pretrained = TextEncoder.load(encoder.config).to(encoder.device)
        before = pooled_attention(pretrained, tokens, model.runtime)
    except TreetopError:
        before = None
    recall, widths = _recall(model, dataset)
    return Analysis(recall, widths, pooled_attention(encoder, tokens, model.runtime), before, similarity, remark)


def _recall(model: FineTuned[Any], dataset: Dataset) -> tuple[list[float], list[int]]:
    tree, kept = model.label_tree(), model.shortlists(dataset.corpus.texts)
    if tree is None or not kept:
        return [], []
    true = dataset.labels[:, : tree.widths[-1]]  # labels that the model does not know are below no node
    return [shortlist_recall(tree.lift(true, t), nodes) for t, nodes in enumerate(kept)], list(tree.widths[:-1])


def draw(analysis: Analysis, folder: Path) -> list[Path]:
    """Write the pictures (PNG) into a folder, which is made if need be; their paths."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"attention": _draw_attention, "entropy": _draw_entropy}
    pictures |= {"recall": _draw_recall} if analysis.recall else {}
    pictures |= {"similarity": _draw_similarity} if analysis.similarity is not None else {}
    written = []
    for name, paint in pictures.items():
        figure = Figure(figsize=(6, 4), layout="constrained")
        paint(analysis, figure.add_subplot())
        written.append(folder / f"{name}.png")
        figure.savefig(written[-1], dpi=120)
    return written


def _draw_attention(analysis: Analysis, axes: Axes) -> None:
    for name, attention in _both(analysis):
        layers = np.arange(1, len(attention.to_itself) + 1)
        (line,) = axes.plot(layers, attention.to_itself.mean(1), marker="o", label=f"{name}, mean of heads")
        most = attention.to_itself.max(1)
        axes.plot(layers, most, marker="^", ls=":", color=line.get_color(), label=f"{name}, largest head")
    _name(axes, "Attention of the pooled token to itself", "layer", "attention")


def _draw_entropy(analysis: Analysis, axes: Axes) -> None:
    for name, attention in _both(analysis):
        layers = np.arange(1, len(attention.entropy) + 1)
        (line,) = axes.plot(layers, attention.entropy.mean(1), marker="o", label=name)
        low, high = attention.entropy.min(1), attention.entropy.max(1)
        axes.fill_between(layers, low, high, color=line.get_color(), alpha=0.15)
    _name(axes, "Entropy of the pooled token's attention (band: its heads)", "layer", "nats")


def _draw_recall(analysis: Analysis, axes: Axes) -> None:
    names = [f"{level + 1}\n{width:,} nodes" for level, width in enumerate(analysis.widths)]
    bars = axes.bar(names, [100 * share for share in analysis.recall])
    axes.bar_label(bars, fmt="%.1f")
    _name(axes, "True nodes that the search keeps", "level", "per cent", legend=False)


def _draw_similarity(analysis: Analysis, axes: Axes) -> None:
    assert analysis.similarity is not None
    layers = len(analysis.similarity)
    image = axes.imshow(analysis.similarity, vmin=0, vmax=1, origin="lower", extent=(0.5, layers + 0.5) * 2)
    axes.figure.colorbar(image)
    _name(axes, "PWCCA similarity of layers", "layer", "layer", legend=False)


def _both(analysis: Analysis) -> Sequence[tuple[str, PooledAttention]]:
    tuned = ("fine-tuned", analysis.attention)
    return [tuned] if analysis.before is None else [tuned, ("pretrained", analysis.before)]


def _name(axes: Axes, title: str, x: str, y: str, *, legend: bool = True) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
    if legend:
        axes.legend()
