"""A small good file of every form that is read: what damage begins with."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse as sp

from treetop.apps.tuning.budget import Budget
from treetop.apps.tuning.journal import Journal
from treetop.apps.tuning.trial import Trial
from treetop.metrics import Spread

__all__ = ["Files", "catalogues", "folders", "journal", "predictions", "records", "settings"]

Files: TypeAlias = dict[str, bytes]
"""What is in a folder, by name."""
_ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "apple pie, and cake", "title": "food", "labels": ["fruit", "sweet"]},
    {"id": "b", "text": "rain <b>and</b> wind", "title": "", "labels": ["weather"]},
    {"id": "c", "text": "", "title": "nothing", "labels": []},
    {"id": "d", "text": "snow in Łódź", "title": "city", "labels": ["weather", "city"]},
]
_FEATURES = sp.csr_array(np.array([[0.5, 0, 1, 0], [0, 2, 0, 0.5], [1, 0, 0, 0], [0, 0, 3, 0]], np.float32))
_LABELS = sp.csr_array(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]], np.float32))


@cache
def records() -> Files:
    """One file for each form that holds texts with their labels."""
    lines = "".join(json.dumps(row) + "\n" for row in _ROWS).encode()
    weighted = "".join(json.dumps({**row, "labels": dict.fromkeys(row["labels"], 0.5)}) + "\n" for row in _ROWS)
    comma = _table(",")
    return {
        "a.jsonl": lines, "w.jsonl": weighted.encode(), "a.json": json.dumps(_ROWS).encode(),
        "a.jsonl.gz": gzip.compress(lines, mtime=0), "a.csv": comma.encode(), "a.tsv": _table("\t").encode(),
        "a.csv.gz": gzip.compress(comma.encode(), mtime=0), "u.csv": comma.encode("utf-16"),
        "a.parquet": _frame("write_parquet"), "a.arrow": _frame("write_ipc"), "s.arrow": _frame("write_ipc_stream"),
        "z.arrow": _frame("write_ipc", compression="lz4"), "a.xlsx": _sheet(),
        "a.svm": b"2 4 3\n0,2 0:0.5 2:1\n1 1:2 3:0.5\n", "a.txt": b"apple pie\nrain and wind\n",
    }  # fmt: skip


@cache
def folders() -> tuple[Files, ...]:
    """Folders of benchmarks, whose parts belong together."""
    own = {name.replace("a.", "train.", 1): content for name, content in records().items()}
    texts = b"apple pie\nrain and wind\ncake\nsnow\n"
    matrices = {"X.trn.npz": packed(_FEATURES), "Y.trn.npz": packed(_LABELS)}
    return (
        {**matrices, "Yf.txt": b"fruit\nweather\nsweet things\n"},
        {"X.trn.npz": packed(_FEATURES.tocsc()), "Y.trn.npz": packed(_LABELS.tocoo()), "train_raw_texts.txt": texts},
        {"X.trn.npz": packed(_FEATURES.tobsr((2, 2))), "Y.trn.npz": packed(_LABELS.todia())},
        {"train_raw_texts.txt": texts, "train_labels.txt": b"fruit sweet\nweather\nsweet\nweather city\n"},
        {"train.txt": own["train.svm"], "labels.txt": b"0\tfruit\n1\tweather\n2\tsweet\n"},
        {"train.jsonl": own["train.jsonl"], "labels.jsonl": b'{"label": "fruit", "text": "Fruit and berries"}\n'},
        {"train-00000-of-00002.parquet": own["train.parquet"], "train-00001-of-00002.parquet": own["train.parquet"]},
        {"train.csv": own["train.csv"], "dev.csv": own["train.csv"], "test.csv": own["train.csv"]},
    )


@cache
def predictions() -> Files:
    """Suggestions for the four texts, in every form that is read back."""
    lines = "".join(json.dumps({"labels": row["labels"], "scores": [0.5] * len(row["labels"])}) + "\n" for row in _ROWS)
    table = "text,label,score\n" + "".join(f"{i},{name},0.5\n" for i, row in enumerate(_ROWS) for name in row["labels"])
    run = "".join(f"{row['id']} Q0 {name} 1 0.5 t\n" for row in _ROWS for name in row["labels"])
    return {
        "p.jsonl": lines.encode(), "p.csv": table.encode(), "p.tsv": table.replace(",", "\t").encode(),
        "p.trec": run.encode(), "p.npz": packed(_LABELS), "p.parquet": _suggested(),
    }  # fmt: skip


@cache
def catalogues() -> Files:
    """Label files, as `--labels-file` takes them."""
    pairs = {"fruit": "Fruit and berries", "weather": "", "sweet": "Sweet things", "city": "Łódź"}
    lines = "".join(json.dumps({"label": name, "text": text or None}) + "\n" for name, text in pairs.items()).encode()
    table = "".join(f"{name}\t{text}\n" if text else f"{name}\n" for name, text in pairs.items()).encode()
    return {"l.txt": table, "l.tsv": table, "l.jsonl": lines, "l.jsonl.gz": gzip.compress(lines, mtime=0)}


@cache
def journal() -> tuple[dict[str, Any], bytes]:
    """What a search for settings depends on, and its record of two trainings."""
    facts = {"texts": [11, 12], "seed": 3, "metrics": ["p@1"]}
    score = Spread(0.5, np.array([0.5, -0.5, 0.0]))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "r.trials"
        kept = Journal(path, facts)
        for number in range(2):
            trial = Trial((0, number), 3, {"p@1": 0.5}, score, 100, 0.25, 0.25, 1.5)
            kept.trials(3, (0, number), lambda trial=trial: [trial], Budget(clock=lambda: 0.0))  # type: ignore[misc]
        return facts, path.read_bytes()


@cache
def settings() -> tuple[bytes, ...]:
    """TOML files of settings."""
    return (
        b'method = "xr-linear"\ntrees = 2\n[tree]\nmax_leaf = 2\nbranching = 4\n[linear.solver]\nthreshold = 0.1\n',
        b'method = "lightxml"\n[encoder]\nname = "minilm"\nmax_tokens = 16\n[optim]\nsteps = 2\nlearning_rate = 1e-4\n',
    )


def packed(matrix: Any) -> bytes:
    """A matrix as scipy saves it."""
    stream = io.BytesIO()
    sp.save_npz(stream, matrix)
    return stream.getvalue()


def _table(delimiter: str) -> str:
    names = ("id", "text", "title", "labels")
    rows = [names, *([*map(row.get, names[:3]), *_cell(row)] for row in _ROWS)]
    return "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)


def _cell(row: dict[str, Any]) -> list[str]:
    return [";".join(row["labels"])]


def _frame(writer: str, **options: Any) -> bytes:
    import polars as pl

    return _written(lambda path: getattr(pl.DataFrame(_ROWS), writer)(path, **options))


def _suggested() -> bytes:
    import polars as pl

    frame = pl.DataFrame({"text": [0, 0, 1], "label": ["fruit", "sweet", "weather"], "score": [0.5, 0.25, 1.0]})
    return _written(frame.write_parquet)


def _written(write: Callable[[Path], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "file"
        write(path)
        return path.read_bytes()


def _sheet() -> bytes:
    """A workbook of one sheet, as few parts as there can be."""
    main, office = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org"
    relations = f"{office}/officeDocument/2006/relationships"
    rows = [("text", "labels"), *((row["text"].replace("<", ""), *_cell(row)) for row in _ROWS)]
    body = "".join(
        f'<row r="{r}">{"".join(_inline(f"{chr(65 + c)}{r}", cell) for c, cell in enumerate(row))}</row>'
        for r, row in enumerate(rows, 1)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="one" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship '
        f'Id="r1" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>',
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, part in parts.items():
            file.writestr(zipfile.ZipInfo(name), part)
    return stream.getvalue()


def _inline(place: str, cell: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>'
