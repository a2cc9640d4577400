"""The harness from end to end on a tiny task: treetop alone here, every peer under the slow marker."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import main
from benchmarks.generate import Shape
from benchmarks.plan import ENTRIES, QUICK
from benchmarks.profile import profile
from benchmarks.run import Options, compare, run_entry
from benchmarks.scores import load_labels
from benchmarks.tasks import from_data, from_shape

from tiny_encoders import make_encoder

POINTS = 0.012  # two paired standard errors of P@1 over the thousand test texts of the quick mode
TINY = Shape(train=1500, test=300, labels=600, per_text=3.0, features=5000, words=40.0)


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(
        work=tmp_path / "work",
        environments=tmp_path / "environments",
        results=tmp_path / "results",
        singles=20,
        batches=2,
        seconds=1.0,
        memory_gib=None,
    )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def write_rows(folder: Path, split: str, count: int, *extra: str) -> None:
    folder.mkdir(exist_ok=True)
    rows = [{"text": f"word{row % 7} and\nmore", "labels": [f"l{row % 7}", *extra]} for row in range(count)]
    (folder / f"{split}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))


def test_treetop_alone(options: Options) -> None:
    task = from_shape("tiny", TINY, options.work)
    compare(task, [ENTRIES["treetop-xr-linear"], ENTRIES["treetop-xr-linear-1-thread"]], 1, options)
    rows = rows_of(options.results)
    assert [row["error"] for row in rows] == [None, None]
    first = rows[0]
    assert set(first["stages"]) == {"pifa", "tree", "train", "save", "load", "batch", "one"}
    assert all(stage["cpu"] >= 0 and stage["peak_rss_mib"] > 10 for stage in first["stages"].values())
    assert first["metrics"]["p@1"] > 0.3
    assert first["one"]["p50_ms"] <= first["one"]["p99_ms"]
    assert first["model_bytes"] > 1000
    assert {"cpu", "cores", "memory_gib"} <= set(first["machine"])
    assert first["digest"] == rows[1]["digest"], "the model depends on the number of threads"
    again = run_entry(task, ENTRIES["treetop-xr-linear"], 1, options)
    assert again["seed"] == first["seed"] + 1
    assert again["digest"] != first["digest"]


def test_a_peer_that_fails_is_a_row_that_says_so(options: Options) -> None:
    task = from_shape("tiny", TINY, options.work)
    unknown = replace(ENTRIES["treetop-xr-linear"], name="broken", settings={"method": "xr-liner"})
    texts = ENTRIES["fasttext-hs"]
    large = replace(ENTRIES["treetop-xr-linear"], name="large", most_work=10.0)
    orphan = replace(ENTRIES["treetop-xr-linear"], name="orphan", model_of="nobody")
    encoder = replace(ENTRIES["treetop-xr-transformer"], needs_texts=False)
    slow = replace(options, time_limit=0.01)
    rows = compare(task, [unknown, texts, large, orphan, encoder], 1, options)
    rows += compare(task, [ENTRIES["treetop-xr-linear"]], 1, slow)
    messages = [row["error"] for row in rows]
    assert "did you mean 'xr-linear'" in messages[0]
    assert "needs texts" in messages[1]
    assert "not tried" in messages[2]
    assert "nobody" in messages[3]
    assert "--encoder" in messages[4]
    assert "was stopped after" in messages[5]


def test_a_transformer_is_measured_with_the_encoder_of_the_run(options: Options, tmp_path: Path) -> None:
    write_rows(tmp_path / "mine", "train", 60)
    write_rows(tmp_path / "mine", "test", 20)
    task = from_data(tmp_path / "mine", options.work)
    encoder = make_encoder(tmp_path / "tiny", ["and", "more"])
    settings: dict[str, Any] = {
        "method": "xr-transformer",
        "texts": True,
        "assign": {"encoder.max_tokens": 16, "optim.steps": 3},
    }
    entry = replace(ENTRIES["treetop-xr-transformer"], settings=settings)
    (row,) = compare(task, [entry], 1, replace(options, encoder=encoder))
    assert row["error"] is None
    assert row["encoder"] == "tiny"
    assert row["tuning"]["texts"] == 3 * 32
    assert row["metrics"]["p@1"] > 0.5


def test_a_folder_becomes_a_task(tmp_path: Path) -> None:
    data = tmp_path / "mine"
    write_rows(data, "train", 60)
    write_rows(data, "test", 20, "only here")
    task = from_data(data, tmp_path / "work", limit=40)
    card = json.loads((task / "task.json").read_text())
    assert card["name"] == "mine-40"
    assert card["statistics"]["texts"] == 40
    assert card["statistics"]["labels"] == 7
    assert len((task / "trn.txt").read_text().splitlines()) == 40
    assert load_labels(task, "trn").shape[1] == 7
    assert load_labels(task, "tst").shape == (20, 8)


def test_profile_names_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    table = profile("zipf-200k:0.005")
    for stage in ("pifa", "tree", "level 0", "train_nodes", "pack", "save", "load", "predict"):
        assert f"{stage}" in table
    assert "1,000 labels" in capsys.readouterr().out


def test_a_run_ends_with_a_table_of_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "treetop-accurate,treetop-xr-linear,fasttext-hs"
    task = ["--generated", "zipf-200k:0.02", "--repeats", "1"]
    main(["run", "--entries", names, *task, "--work", str(tmp_path), "--results", str(tmp_path / "results")])
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert {"P@1", "train CPU s"} <= set(table[0])
    assert {line[0] for line in table[2:]} == {"treetop XR-Linear", "treetop, preset accurate"}
    place = table[0].index("train CPU s")
    costs = [float(line[place].strip("*")) for line in table[2:]]
    assert costs == sorted(costs), "cheapest first"


def test_the_command_line_refuses_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no entry 'pecoss'"):
        main(["run", "--entries", "pecoss", "--work", str(tmp_path)])
    with pytest.raises(SystemExit, match="no folder or shape 'zipf'"):
        main(["run", "--entries", QUICK[1], "--generated", "zipf:1", "--work", str(tmp_path)])


@pytest.mark.slow
def test_the_quick_mode_twice_measures_the_same_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for _ in range(2):
        main(["run", "--quick", "--work", str(tmp_path)])
        printed.append(sorted(line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines()))
    assert printed[0] == printed[1]
    assert len(printed[0]) == 2 + len(QUICK)
    rows = rows_of(tmp_path / "results")
    assert [row["entry"] for row in rows] == 2 * list(QUICK)
    runs = [{row["peer"]: row for row in run if not row["error"]} for run in (rows[: len(QUICK)], rows[len(QUICK) :])]
    for peer in ("pecos", "treetop"):  # omikuji takes no seed, and napkinXC's is not enough with two threads
        assert runs[0][peer]["metrics"] == runs[1][peer]["metrics"], peer
    for one, other in permutations(runs[0], 2):
        if runs[0][one]["metrics"]["p@1"] > runs[0][other]["metrics"]["p@1"] + POINTS:
            assert runs[1][one]["metrics"]["p@1"] > runs[1][other]["metrics"]["p@1"], (one, other)


def test_settings_are_chosen_with_the_dev_texts_and_the_names_of_labels(tmp_path: Path, options: Options) -> None:
    for split, count in (("train", 300), ("dev", 40), ("test", 50)):
        write_rows(tmp_path / "mine", split, count, *(["unseen"] if split != "train" else []))
    (tmp_path / "mine" / "labels.txt").write_text("\n".join(f"l{n}\tword{n}" for n in range(7)))
    auto = replace(ENTRIES["treetop-auto"], settings={**ENTRIES["treetop-auto"].settings, "budget": "2cpu"})
    task = from_data(tmp_path / "mine", options.work)
    row = run_entry(task, auto, 0, options)
    assert row["error"] is None
    assert {"search", "train"} <= set(row["stages"])
    assert row["chosen"]["trainings"] >= 1
    assert row["metrics"]["p@1"] > 0.9
    assert json.loads((task / "labels.json").read_text())[:7] == [f"word{n}" for n in range(7)]
    assert load_labels(task, "dev").shape[0] == 40


def test_all_can_be_given_the_features_of_a_recipe(tmp_path: Path, options: Options) -> None:
    for split in ("train", "test"):
        write_rows(tmp_path / "mine", split, 60)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('method = "xr-linear"\n[tfidf]\nchar_wb_ngrams = [3, 5]\n')
    plain, chosen = (from_data(tmp_path / "mine", options.work, recipe=one) for one in (None, recipe))
    cards = [json.loads((task / "task.json").read_text()) for task in (plain, chosen)]
    assert [card["name"] for card in cards] == ["mine", "mine-chosen"]
    assert cards[1]["tfidf"]["char_wb_ngrams"] == [3, 5]
    assert cards[1]["statistics"]["features"] > cards[0]["statistics"]["features"]
