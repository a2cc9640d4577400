"""How faithful explanations are: what a score loses without the words that are said to matter, or keeps with them.

    python -m benchmarks.faithfulness MODEL --data DATA --split test --texts 500

For the first suggestion of each text, words are ranked by their contributions, at random, and for models with an
encoder by the attention of the pooled token in the last layer. Over the strongest 5, 10, 20 and 50 % of the
distinct words

    comprehensiveness = mean of score(text) - score(text without them)        the more the better
    sufficiency       = mean of score(text) - score(only them)                the less the better

(DeYoung et al., ERASER, ACL 2020), with standard errors over texts; differences to random words are paired. Beside it:
how well contributions add up to the margins that the search computes, how complete integrals are, and CPU time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.data import read
from treetop.explanation import ENCODER, NO_WORDS, READING, REST, Explanation, Word
from treetop.linear import LinearTree
from treetop.methods import Method, load
from treetop.methods.explaining.removing import without
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, from_parts
from treetop.text.occurrences import overlap

SHARES = (0.05, 0.1, 0.2, 0.5)
Doubles = NDArray[np.float64]
Groups = list[list[Word]]


def groups_of(found: Explanation) -> Groups:
    """The places of each distinct word."""
    groups: dict[str, list[Word]] = {}
    for word in found.words:
        groups.setdefault(word.word.casefold(), []).append(word)
    return list(groups.values())


def strengths(found: Explanation, groups: Groups, adds: Sequence[float] | Doubles) -> Doubles:
    """What each distinct word adds, its places taken together."""
    place = {id(word): float(value) for word, value in zip(found.words, adds, strict=True)}
    return np.array([sum(place[id(word)] for word in group) for group in groups])


def slopes(found: Explanation) -> Doubles:
    """How much the logarithm of an l3-hinge score changes with the margin of each level."""
    return np.array([3 * max(0.0, 1 - step.margin) ** 2 for step in found.path])


def attention(model: Any, found: Explanation, groups: Groups) -> Doubles:
    """The attention of the pooled token to each word in the last layer, mean over heads."""
    from treetop.neural.attribution import _places, _spans

    encoder = model.text_encoder
    tokens = encoder.tokenize([found.text])
    row = np.array([0])
    share, _ = encoder.pooled_attention(tokens.pad(row))
    places = _places(tokens).pad(row).ids
    of_token = np.zeros(len(tokens.ids))
    of_token[places[places >= 0]] = share[-1].mean(1).numpy()[places >= 0]
    spans = np.array([[word.start, word.end] for word in found.words]).reshape(-1, 2)
    tokens_at = _spans(encoder.tokenizer, found.text, len(tokens.ids))
    return strengths(found, groups, np.asarray(overlap(spans, tokens_at) @ of_token[: len(tokens_at)]))


def rankings(model: Any, found: Explanation, groups: Groups, rng: np.random.Generator) -> dict[str, Doubles]:
    """Strengths of the words by several lights."""
    every = {
        "contributions": strengths(found, groups, [word.contribution for word in found.words]),
        "random words": rng.random(len(groups)),
    }
    if len(found.path) > 1:
        every["last level alone"] = strengths(found, groups, found.path[-1].words)
        if found.kind != "margin":
            steps = np.array([step.words for step in found.path])
            every["by slope"] = strengths(found, groups, (slopes(found) @ steps).tolist())
    if ENCODER in found.parts:
        every["attention"] = attention(model, found, groups)
        for source in found.words[0].parts:
            every[f"{source} alone"] = strengths(found, groups, [word.parts[source] for word in found.words])
    return every


def measure(model: Method[Any], found: Explanation, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Comprehensiveness and sufficiency of every ranking for one explanation."""
    groups = groups_of(found)
    ranked = rankings(model, found, groups, rng)
    texts = []
    for strength in ranked.values():
        order = np.argsort(-strength, kind="stable")
        for share in SHARES:
            count = max(1, round(share * len(groups)))
            texts += [_without(found.text, groups, gone) for gone in (order[:count], order[count:])]
    scores = model.predict([found.text, *texts], 1, labels=[found.label]).scores[:, 0].astype(np.float64)
    lost = (scores[0] - scores[1:]).reshape(len(ranked), len(SHARES), 2).mean(1)
    return {name: (float(one[0]), float(one[1])) for name, one in zip(ranked, lost, strict=True)}


def _without(text: str, groups: Groups, gone: NDArray[np.integer]) -> str:
    return without(text, [word for at in gone for word in groups[at]])


def native(tree: LinearTree, features: AnyFeatures, label: int) -> list[float]:
    """The margins on the path to a label as the search computes them."""
    path, found = tree.tree.path(label), []
    for level, node, parent in zip(tree.levels, path, [0, *path], strict=False):
        shortlist = from_parts(np.array([0, 1]), np.array([parent]), None, columns=level.parents)
        found.append(float(level.score(features, shortlist, link="noop", combine="last")[0, node]))
    return found


def missed_margin(model: Any, found: Explanation) -> float:
    """The largest difference between a margin of the search and what words and constants add up to."""
    if not isinstance(getattr(model, "linear", None), list):
        return float("nan")
    row, label = model.tfidf.transform([found.text]), model.space.index[found.label]
    margins = [margin for tree in model.linear for margin in native(tree, row, label)]
    sums = [sum(step.words) + sum(v for k, v in step.parts.items() if k not in ("tf-idf", REST)) for step in found.path]
    return float(np.max(np.abs(np.array(margins) - sums)))


def incomplete(found: Explanation) -> float:
    """The share of what the encoder itself adds for the words that their sum misses."""
    return abs(found.parts[REST]) / added(found) if ENCODER in found.parts else float("nan")


def read_otherwise(found: Explanation) -> float:
    """What the reader that predicts sees otherwise, as a share of the same."""
    return abs(found.parts[READING]) / added(found) if READING in found.parts else float("nan")


def added(found: Explanation) -> float:
    """What the encoder adds for the words, by the difference to a text without."""
    return max(1e-9, abs(sum(word.parts.get(ENCODER, 0.0) for word in found.words) + found.parts[REST]))


def told(values: Sequence[float] | Doubles) -> str:
    """Mean ± standard error."""
    each = np.asarray(values)
    return f"{each.mean():8.4f} ± {each.std(ddof=1) / np.sqrt(len(each)):.4f}"


def timed(ask: Callable[[], Explanation]) -> tuple[Explanation, float]:
    """An explanation and the CPU-seconds that it took."""
    start = time.process_time()
    return ask(), time.process_time() - start


def main() -> None:
    """Parse, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--checks", type=int, default=0, help="more texts for sums and times alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    model = load(given.model, runtime=Runtime(threads=1))
    texts = read(given.data, split=given.split).corpus.texts
    rng = np.random.default_rng(given.seed)
    rows = rng.permutation(len(texts))[: max(given.texts, given.checks)]
    model.explain(texts[int(rows[0])])  # the first one loads what is needed
    lost: dict[str, list[tuple[float, float]]] = {}
    seconds, missed, gaps, read_by, shares = [], [], [], [], []
    for number, row in enumerate(rows):
        found, spent = timed(lambda row=row: model.explain(texts[int(row)]))  # type: ignore[misc]
        seconds.append(spent)
        missed.append(missed_margin(model, found))
        gaps.append(incomplete(found))
        read_by.append(read_otherwise(found))
        if ENCODER in found.parts:
            shares.append({k: v for k, v in found.parts.items() if k != NO_WORDS})
        if number < given.texts and len(found.words) > 1:
            for name, one in measure(model, found, rng).items():
                lost.setdefault(name, []).append(one)
    print(f"{given.model}: {len(rows)} texts of {given.split}, {len(lost['contributions'])} for faithfulness")
    print(f"CPU ms per explanation: median {1e3 * np.median(seconds):.1f}, 90 % {1e3 * np.quantile(seconds, 0.9):.1f}")
    if not np.isnan(missed).all():
        print(f"largest miss of a margin: {np.max(missed):.2g}")
    if not np.isnan(gaps).all():
        within = np.mean(np.asarray(gaps) <= 0.05)
        print(
            f"incomplete by: median {np.median(gaps):.4f}, 99 % {np.quantile(gaps, 0.99):.4f}; within 5 %: {within:.1%}"
        )
        print(f"read otherwise by: median {np.median(read_by):.4f}, 99 % {np.quantile(read_by, 0.99):.4f}")
        print(
            "parts of the margin, mean:",
            {k: round(float(np.mean([s.get(k, 0) for s in shares])), 3) for k in shares[0]},
        )
    random = np.array(lost["random words"])
    figures = {}
    for name, each in lost.items():
        array = np.array(each)
        better = array - random
        print(f"{name:20} comprehensiveness {told(array[:, 0])} (above random {told(better[:, 0])})"
              f"   sufficiency {told(array[:, 1])} (above random {told(better[:, 1])})")  # fmt: skip
        figures[name] = array.tolist()
    if given.json:
        given.json.write_text(json.dumps({"seconds": seconds, "missed": missed, "gaps": gaps, "lost": figures}))


if __name__ == "__main__":
    main()
