"""Command lines with something odd in them, run in this process."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import IO, Any
from unittest.mock import patch

from typer.main import get_command

from drills.drill import MODELS
from drills.samples import Files, predictions, records, settings
from treetop.apps import cli

__all__ = ["Command", "command"]

_LINEAR, _FLAT = str(MODELS / "xr-linear"), str(MODELS / "one-vs-all")
_COMMANDS = (
    "look a.jsonl --json facts.json --split train --text text --labels labels --separator ; --encoding utf-8",
    "look a.csv --strip-html --quiet",
    "split a.jsonl --out parts --test 0.5 --dev 0.25 --by-time id --seed 1",
    "split a.csv --out parts --group title --gzip",
    "train --data a.jsonl --out model --method xr-linear --set tree.max_leaf=2 --seed 0 --threads 1 --quiet",
    "train --data a.jsonl --out model --method one-vs-all --test-share 0.5 --no-calibration --threads 1",
    "train --data a.csv --out model --config a.toml --threads 1 --quiet --device cpu --precision float32",
    f"predict {_LINEAR} a.jsonl --k 3 --threshold 0.1 --only fruit --beam 5 --chunk 2 --threads 1",
    f"predict {_FLAT} a.csv --out found.csv --labels-file labels.txt --text title,text --encoding utf-8",
    f"predict {_LINEAR} a.txt --out found.trec -k 2 --strip-html",
    f"evaluate {_LINEAR} --data a.jsonl --split test --metrics p@1,ndcg@5 --threshold 0.4 --json figures.json",
    "evaluate --data a.jsonl --predictions p.csv --metrics p@1,psp@3 --benchmark eurlex-4k --quiet",
    f"compare {_LINEAR} {_FLAT} p.jsonl --data a.jsonl --split test --metrics p@1 --json all.json --threads 1",
    f"ensemble {_LINEAR} {_FLAT} --out both --fuser average --weights 2,1 --threads 1",
    f"ensemble {_LINEAR} {_FLAT} --out both --data a.jsonl --split dev --no-calibration",
    f"calibrate {_LINEAR} --data b.jsonl --out again --split dev --threads 1",
    f"calibrate {_FLAT} --data b.jsonl --out again --split dev --labels-file labels.txt --no-names --threads 1",
    f"explain {_LINEAR} --text apple --label fruit --threshold 0.1 --nearest 1 --words 3 --threads 1",
    f"report {_LINEAR} --data a.jsonl --split test --out page.html --json r.json --labels-csv r.csv --baseline {_FLAT}",
    "tune --data a.jsonl --out r.toml --trials 2 --metrics p@1 --most-weights 9 --resume --threads 1 --quiet",
    "train --data a.jsonl --out model --method xr-linear --names --labels-file labels.txt --keep-texts --threads 1",
    f"inspect {_LINEAR} --depth 2 --verify",
    "presets",
)
_OPTIONS = tuple(sorted({word for line in _COMMANDS for word in line.split() if word.startswith("-")}))
_ODD = (
    "", " ", "-", "--", "-1", "0", "1", "2.5", "1e999", "-inf", "nan", str(2**31), str(2**70), "9" * 5000, "x",
    "x" * 300, "x/" * 3000, "ü", "\udcff", "a=b", "=", ",", "1,,2", "inf,1", "[" * 3000, "tree.max_leaf=-1", "tree=1",
    "tree.max_leaf=1e400", "tree.kind=[]", "linear.solver.max_iter=99999999999", "trees=9", "text", "labels", "missing",
    ".", "..", "model", "a.jsonl", "a.csv", "a.jsonl/x", "/dev/null", "/dev/zero", "utf-16", "f1", "precision:0.9",
    "precision:x", "precision:nan", "recall:", "top", "p@0", "p@99999999999", "psp@1", "cuda:7", "mps", "bfloat16",
    "-h", "--help", "--version", "--quiet", "-k", "\n", "a\nb", "None", "true", "*", "bonsai", "auto", "p.npz",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """Words, and the files they speak of."""

    words: tuple[str, ...]
    files: Files

    def run(self) -> str:
        """What is wrong with how it ended: exit code 0, or 2 with one line or with how to use it."""
        said = _said()
        said.seek(0)
        said.truncate()
        streams = patch.multiple(sys, argv=["treetop", *self.words], stdout=_nowhere(), stderr=said)
        with streams, patch.object(cli, "app", _parsed()):
            code = _ended()
        said.flush()
        said.seek(0)
        return _problem(code, said.read(), self.words)


def command(random: Random) -> Command:
    """A command with one or two of its words exchanged, dropped, doubled or added."""
    words = random.choice(_COMMANDS).split()
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        place, odd = random.randrange(len(words)), random.choice(_ODD)
        change = random.choice(("exchange", "exchange", "drop", "double", "option", "add"))
        if change == "exchange":
            words[place] = odd
        elif change == "drop":
            words.pop(place)
        elif change == "double":
            words.insert(place, words[place])
        elif change == "option":
            words += [random.choice(_OPTIONS), odd]
        else:
            words.insert(place, odd)
        words = words or ["look"]
    return Command(tuple(words), _files())


@cache
def _files() -> Files:
    own = {name: records()[name] for name in ("a.jsonl", "a.csv", "a.txt")}
    more = {"b.jsonl": 15 * records()["a.jsonl"], "a.toml": settings()[0], "labels.txt": b"fruit\tApples\ncity\n"}
    return {**own, **predictions(), **more}


@cache
def _parsed() -> Any:
    """The commands with their options, put together once: that takes ten times as long as most commands."""
    return get_command(cli.app)


def _ended() -> int | str | None:
    try:
        cli.main()
    except SystemExit as error:
        return error.code
    return 0


def _problem(code: int | str | None, said: str, words: tuple[str, ...]) -> str:
    line = said.strip()
    one = line.startswith("error:") and "\n" not in line and len(line) < 1500
    if code in (0, None) or (code == 2 and (one or "Usage:" in line or "─ Error ─" in line)):
        return ""
    return f"{words}: exit code {code}, {len(said)} characters: {said[-300:]!r}"


@cache
def _said() -> IO[str]:
    return open(os.memfd_create("said"), "w+", encoding="utf-8", errors="backslashreplace")


@cache
def _nowhere() -> IO[str]:
    return open(os.devnull, "w", encoding="utf-8")
