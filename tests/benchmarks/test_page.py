"""The page says what the rows say."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from benchmarks.figures import PAGES, fill
from benchmarks.page import write_figures, write_page
from benchmarks.results import Result, newest, read_rows
from benchmarks.series import power_law
from benchmarks.tables import by_cost

FACTS = {"texts": 100, "labels": 50, "labels_per_text": 2.0, "features_per_text": 9.0}


def row(entry: str, peer: str, **changes: Any) -> dict[str, Any]:
    """A row with plausible figures; `changes` are put at dotted places."""
    stage = {"wall": 1.0, "cpu": 2.0, "peak_rss_mib": 100.0}
    made: dict[str, Any] = {
        "run": "2024-01-02T00:00:00+00:00",
        "time": "2024-01-02T00:00:00+00:00",
        "kind": "compare",
        "task": {"name": "mine", "source": "data", "test_texts": 10, "statistics": dict(FACTS)},
        "entry": entry,
        "title": entry.replace("-", " "),
        "peer": peer,
        "threads": 2,
        "machine": {"cpu": "abacus", "cores": 2, "memory_gib": 1.0, "system": "Linux", "load": 0.1},
        "commit": "abc",
        "versions": {peer: "1.0"},
        "stages": {name: dict(stage) for name in ("pifa", "tree", "train", "load", "batch", "one")},
        "one": {"p50_ms": 1.0, "p99_ms": 2.0},
        "texts": 10,
        "model_bytes": 1_000_000,
        "metrics": dict.fromkeys(("p@1", "p@3", "p@5", "r@10", "ndcg@5", "psp@1", "psp@3", "psp@5"), 0.5),
        "bands": {band: {"found@5": 0.5} for band in ("head", "torso", "tail")},
        "paired": {name: [0.01, 0.002] for name in ("p@1", "p@3", "p@5", "r@10")},
        "error": None,
    }
    for place, value in changes.items():
        target, *path = made, *place.split("__")
        for name in path[:-1]:
            target = target[name]
        target[path[-1]] = value
    return made


def page_of(rows: list[dict[str, Any]], tmp_path: Path) -> str:
    results = tmp_path / "results"
    results.mkdir(exist_ok=True)
    (results / "all.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return write_page(results, tmp_path / "docs").read_text(encoding="utf-8")


PECOS = row("pecos-xr-linear", "pecos", stages__train__cpu=20.0, paired=None)
OURS = row("treetop-xr-linear", "treetop")


def test_rows_go_from_the_cheapest_training_to_the_dearest_and_failures_are_last() -> None:
    failed = row("never", "never", stages={}, error="out of patience")
    cheap = row("cheap", "cheap", stages__train__cpu=1.5)
    assert [one.entry for one in by_cost([Result((made,)) for made in (failed, PECOS, OURS, cheap)])] == [
        "cheap", "treetop-xr-linear", "pecos-xr-linear", "never",
    ]  # fmt: skip


def test_ratios_of_equal_settings(tmp_path: Path) -> None:
    text = page_of([PECOS, OURS], tmp_path)
    assert "| training, CPU s | 20 | 2 | 10.0x |" in text
    assert "+1.00 ± 0.20" in text
    assert "abacus" in text


def test_the_transformers_of_both_side_by_side(tmp_path: Path) -> None:
    theirs = row("pecos-xr-transformer", "pecos_transformer", tuning={"cpu_ms_per_text": 30.0})
    ours = row("treetop-xr-transformer", "treetop", tuning={"cpu_ms_per_text": 10.0})
    text = page_of([PECOS, OURS, theirs, ours], tmp_path)
    assert "| fine-tuning, CPU ms per text | 30 | 10 | 3.0x |" in text
    assert "fine-tuning" not in page_of([PECOS, OURS, theirs], tmp_path)


def test_heads_of_growing_label_sets(tmp_path: Path) -> None:
    rows = []
    for count in (100, 1000):
        one = row("treetop-cascadexml-head", "treetop", kind="heads", title="cascadexml", encoder="tiny")
        one["task"] |= {"name": f"heads-{count}", "statistics": {**FACTS, "labels": count}}
        one["settings"] = {"assign": {"optim.batch_size": 10}}
        one["step"] = {"cpu": 2.0, "encoder_alone_cpu": 1.5}
        rows.append(one)
    text = page_of(rows, tmp_path)
    assert "| cascadexml | 1,000 | 100 | 10 | 2 | 25 |" in text  # 2 s, of which 1.5 s without the head
    assert "![Transformer heads" in text


def test_where_treetop_is_not_the_best_is_said(tmp_path: Path) -> None:
    better = row("omikuji-bonsai", "omikuji")
    better["metrics"]["r@10"] = 0.6
    noisy = deepcopy(better)
    noisy["metrics"]["r@10"] = 0.501
    assert "**R@10**: omikuji bonsai has 60.00, treetop at best 50.00" in page_of([PECOS, OURS, better], tmp_path)
    assert "Within the noise" in page_of([PECOS, OURS, noisy], tmp_path)
    assert "**R@10**: omikuji" not in page_of([PECOS, OURS, row("omikuji-bonsai", "omikuji")], tmp_path)


def test_the_cheapest_training_comes_first(tmp_path: Path) -> None:
    text = page_of([PECOS, OURS], tmp_path)
    assert text.index("| treetop xr linear |") < text.index("| pecos xr linear |")


def test_rows_of_another_machine_are_named(tmp_path: Path) -> None:
    other = row("napkinxc-plt", "napkinxc")
    assert "another machine" not in page_of([PECOS, OURS, other], tmp_path)
    other["machine"] = {**other["machine"], "cpu": "slide rule"}
    assert "only roughly: napkinxc plt: on slide rule." in page_of([PECOS, OURS, other], tmp_path)


def test_failures_are_rows(tmp_path: Path) -> None:
    failed = row("napkinxc-plt", "napkinxc", error="does not install: no wheel")
    text = page_of([PECOS, OURS, failed], tmp_path)
    assert "- napkinxc plt: does not install: no wheel" in text
    assert "| napkinxc plt |" not in text


def test_medians_of_the_newest_run_only() -> None:
    old = row("treetop-xr-linear", "treetop", run="2023", time="2023", stages__train__cpu=999.0)
    repeats = [row("treetop-xr-linear", "treetop", stages__train__cpu=cpu) for cpu in (3.0, 1.0, 2.0)]
    (result,) = newest([old, *repeats], "compare")["mine"]
    assert result.value("stages", "train", "cpu") == 2.0
    assert result.training("cpu") == 6.0


def test_quality_is_the_mean_over_seeds(tmp_path: Path) -> None:
    rows = [row("treetop-xr-linear", "treetop", paired={"p@1": [value, 0.002]}) for value in (0.01, 0.03)]
    for one, value in zip(rows, (0.5, 0.6), strict=True):
        one["metrics"]["p@1"] = value
    (result,) = newest(rows, "compare")["mine"]
    assert result.mean("metrics", "p@1") == pytest.approx(0.55)
    assert result.difference("p@1") == pytest.approx((0.02, 0.002))
    assert result.difference("r@10") is None


def test_growth_and_scale_are_fitted(tmp_path: Path) -> None:
    rows = [PECOS, OURS]
    for kind in ("growth", "scale"):
        for labels in (1000, 10_000, 100_000):
            one = row("treetop-xr-linear", "treetop", kind=kind, stages__train__cpu=labels / 1000)
            one["task"] = {"name": f"{kind}-{labels}", "source": "generated", "statistics": FACTS | {"labels": labels}}
            rows.append(one)
    text = page_of(rows, tmp_path)
    assert "## Cost growth" in text
    assert "a single text takes 1.0 times as much (labels^" in text
    assert "| training CPU s | 2,812 | 1.00 |" in text
    assert power_law([1, 10, 100], [3, 30, 300]) == pytest.approx((3, 1))


def test_pictures_are_the_same_every_time_and_have_no_ground(tmp_path: Path) -> None:
    page_of([PECOS, OURS], tmp_path)
    picture = tmp_path / "docs" / "benchmarks" / "accuracy-cost.svg"
    first = picture.read_bytes()
    page_of([PECOS, OURS], tmp_path)
    assert picture.read_bytes() == first
    assert b"#ffffff" not in first
    assert b"treetop xr linear" in first


def test_without_results_there_is_still_a_page(tmp_path: Path) -> None:
    assert "no timings yet" in page_of([], tmp_path)


def test_figures_inside_pages_are_made_anew_and_the_words_around_them_stay(tmp_path: Path) -> None:
    rows = [PECOS, {**OURS, "task": {**OURS["task"], "name": "yso-swedish"}}]
    kinds = {"compare": newest(rows, "compare")}
    page = (
        "It takes <!-- figures: conditions -->nine<!-- end -->.\n\n"
        "<!-- figures: quality-beside-cost -->\nold\n<!-- end -->\n"
    )
    filled = fill(page, kinds)
    assert filled.startswith("It takes <!-- figures: conditions -->2 threads, 2024-01-02")
    assert "| treetop, preset `xr-linear` | – | – | – | 50.0/50.0/50.0 · 6 |" in filled
    assert "old" not in filled
    assert fill(filled, kinds) == filled
    with pytest.raises(SystemExit, match="there are no figures 'made-up'"):
        fill("<!-- figures: made-up --><!-- end -->", kinds)


def test_what_was_chosen_and_what_the_search_cost_is_said(tmp_path: Path) -> None:
    auto = row("treetop-auto", "treetop", chosen={"settings": "features=parts", "trainings": 50})
    auto["stages"]["search"] = {"wall": 90.0, "cpu": 80.0, "peak_rss_mib": 10.0}
    text = page_of([PECOS, OURS, auto], tmp_path)
    assert "the search cost 80 CPU-seconds more (50 trainings), and chose features=parts." in text
    assert "search cost" not in page_of([PECOS, OURS], tmp_path)


def test_features_that_are_more_than_words_are_said(tmp_path: Path) -> None:
    assert "matrix that all are given" not in page_of([PECOS, OURS], tmp_path)
    rows = deepcopy([PECOS, OURS])
    for one in rows:
        one["task"]["tfidf"] = {"word_ngrams": [1, 2], "char_wb_ngrams": [3, 5], "char_ngrams": None}
    assert "has n-grams of words from 1 to 2, of the letters of a word from 3 to 5:" in page_of(rows, tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_figures_are_those_of_the_committed_rows(name: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    write_figures(root / "benchmarks" / "results", root, tmp_path)
    assert (tmp_path / name).read_text(encoding="utf-8") == (root / name).read_text(encoding="utf-8")


def test_noted_figures_are_those_of_the_log() -> None:
    """Rows that were copied from the log of experiments: every one of their figures stands in the entry they name."""
    root = Path(__file__).parents[2]
    for noted in (one for one in read_rows(root / "benchmarks" / "results") if one["kind"] == "noted"):
        page = (root / "docs" / noted["told"].partition("#")[0]).read_text(encoding="utf-8")
        figures = [f"{100 * noted['metrics'][name]:.2f}" for name in ("p@1", "p@3", "p@5", "psp@1")]
        rows = [re.split(r" *\| *", line.replace("*", "")) for line in page.splitlines()]
        assert any(set(figures) <= set(cells) for cells in rows), f"{noted['title']} is not in {noted['told']}"


def test_the_committed_page_is_the_one_of_the_committed_rows(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    results, page = root / "benchmarks" / "results", root / "docs" / "benchmarks.md"
    if not results.exists():
        pytest.skip("no results are committed yet")
    assert write_page(results, tmp_path).read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
