from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy import sparse as sp

from treetop.apps.looking import Other, look_at

ROWS = [("One two three", ["a", "b"]), ("one TWO  three", ["a"]), ("", ["c"]), ("four", []), ("five six", ["a"])]


def folder_of(folder: Path, **splits: list[tuple[str, list[str]]]) -> Path:
    for name, rows in splits.items():
        lines = (json.dumps({"text": text, "labels": labels}) for text, labels in rows)
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return folder


def test_figures_of_a_split_and_of_those_beside_it(tmp_path: Path) -> None:
    look = look_at(folder_of(tmp_path, train=ROWS, test=[("FOUR", ["a", "z"]), ("new", ["b"])]), "trn")
    assert look.split == "train"
    assert (look.findings.texts, look.findings.duplicates, look.findings.empty) == (5, 1, 1)
    assert look.labels_per_text == {"0": 1, "1": 3, "2": 1}
    assert look.words_per_text == {"0": 1, "1–9": 4}
    assert look.texts_per_label == {"1": 2, "2–5": 1}
    assert look.bands == {"tail": (3, 5)}
    assert look.frequent == [("a", 3), ("b", 1), ("c", 1)]
    assert look.examples[0] == ("One two three", ["a", "b"])
    assert look.others == {"test": Other(texts=2, labels=3, unseen_labels=1, shared_texts=1)}


def test_a_single_file_has_no_splits_and_becomes_json(tmp_path: Path) -> None:
    look = look_at(folder_of(tmp_path, train=ROWS) / "train.jsonl", "train")
    assert (look.split, look.others) == ("", {})
    facts = json.loads(json.dumps(look.flat()))
    assert facts["findings"]["duplicates"] == 1
    assert facts["findings"]["line"] == str(look.findings)


def test_head_torso_and_tail(tmp_path: Path) -> None:
    rows = [(f"text {n}", ["head", *(["torso"] if n < 6 else []), f"tail {n}"]) for n in range(101)]
    assert look_at(folder_of(tmp_path, train=rows), "train").bands == {
        "head": (1, 101),
        "torso": (1, 6),
        "tail": (101, 101),
    }


def test_features_without_texts(tmp_path: Path) -> None:
    for name in ("X.trn.npz", "Y.trn.npz"):
        sp.save_npz(tmp_path / name, sp.csr_array(np.eye(4, dtype=np.float32)))
    look = look_at(tmp_path, "train")
    assert (look.features, look.words_per_text, look.examples) == (4, {}, [])
