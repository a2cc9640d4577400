"""One run: in process, bare, treetop, Annif for a linear model; in process, full and overloaded for an encoder."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT, machine
from benchmarks.serve import servers
from benchmarks.serve.load import Kind, at_rate, hammer, quantile
from treetop.data import read_texts
from treetop.methods import load
from treetop.runtime import Runtime

__all__ = ["main"]

TREETOP = Kind("/v1/suggest", "application/json")
ANNIF = Kind("/v1/projects/labels/suggest", "application/x-www-form-urlencoded")
CONNECTIONS = (1, 16, 64)
CLIENTS = 32
LONG, ENOUGH = (900, 1100), 200
"""Characters of the texts for the linear model, and how many of them."""


def main() -> None:
    """Parse, measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    parser.add_argument("--model", type=Path, help="a linear model")
    parser.add_argument("--texts", type=Path, required=True, help="file of texts to ask about")
    parser.add_argument("--encoder-model", type=Path, help="a model with an encoder")
    parser.add_argument("--encoder-texts", type=Path, help="file of texts for it")
    parser.add_argument("--annif", type=Path, help="folder with Annif's projects.cfg, of a trained project 'labels'")
    parser.add_argument("--annif-python", type=Path, help="the Python that Annif is installed for")
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "serve.json")
    given = parser.parse_args()
    found: dict[str, Any] = {"machine": machine(), "seconds": given.seconds}
    if given.model is not None:
        found["linear"] = linear(given.model, _texts(given.texts, LONG), given)
    if given.encoder_model is not None:
        found["encoder"] = encoder(given.encoder_model, _texts(given.encoder_texts or given.texts), given.seconds)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def linear(model: Path, texts: Sequence[str], given: argparse.Namespace) -> dict[str, Any]:
    """A linear model: each server twice, in turns."""
    found: dict[str, Any] = {"in process, CPU us": [], "bare": [], "treetop": [], "annif": []}
    for _ in range(2):
        found["in process, CPU us"].append(_say("in process", round(in_process(model, texts) * 1e6, 1)))
        with servers.bare(model) as server:
            found["bare"] += _hammered("bare", server, TREETOP, texts, given.seconds)
        with servers.treetop(model) as server:
            found["treetop"] += _hammered("treetop", server, TREETOP, texts, given.seconds)
        if given.annif is not None:
            with servers.annif(given.annif_python, given.annif) as server:
                found["annif"] += _hammered("annif", server, ANNIF, texts, given.seconds)
    return found


def _hammered(name: str, server: servers.Server, kind: Kind, texts: Sequence[str], seconds: int) -> list[Any]:
    hammer(server, kind, texts, 1, 1)  # so that all that is loaded at first use is loaded
    return [_say(name, hammer(server, kind, texts, count, seconds).row()) for count in CONNECTIONS]


def encoder(model: Path, texts: Sequence[str], seconds: int) -> dict[str, Any]:
    """A model with an encoder: what it reads in process, over HTTP, and when twice as much is asked for."""
    found: dict[str, Any] = {"in process, texts per CPU second": [], "32 connections": [], "twice as much": []}
    for _ in range(2):
        own = {str(size): round(1 / in_process(model, texts, at_once=size), 1) for size in (len(texts), CLIENTS)}
        found["in process, texts per CPU second"].append(_say("in process, texts at once: per CPU second", own))
        with servers.treetop(model, "--queue", "32") as server:
            hammer(server, TREETOP, texts, 1, 1)
            full = hammer(server, TREETOP, texts, CLIENTS, seconds)
            found["32 connections"].append(_say("32 connections", full.row()))
            answers = asyncio.run(at_rate(server, TREETOP, texts, 2 * full.per_second, seconds))
            found["twice as much"].append(_say("twice as much", _by_status(answers)))
    return found


def _by_status(answers: dict[int, list[float]]) -> dict[str, Any]:
    return {
        str(status): {
            "answers": len(times),
            **{f"p{share * 100:g}_ms": round(quantile(times, share), 2) for share in (0.5, 0.99)},
        }
        for status, times in sorted(answers.items())
    }


def in_process(model: Path, texts: Sequence[str], at_once: int = 1) -> float:
    """CPU seconds of a prediction, on the core and with the threads of the servers."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {servers.CORE})
    try:
        loaded = load(model, runtime=Runtime(threads=1))
        return _timed(lambda some: loaded.predict(some, 10), texts, at_once)
    finally:
        os.sched_setaffinity(0, before)


def _timed(predict: Callable[[Sequence[str]], Any], texts: Sequence[str], at_once: int) -> float:
    """The best of several rounds, as whatever disturbs makes it slower only."""
    best = float("inf")
    for _ in range(4):
        start = time.process_time()
        for first in range(0, len(texts), at_once):
            predict(texts[first : first + at_once])
        best = min(best, (time.process_time() - start) / len(texts))
    return best


def _texts(path: Path, length: tuple[int, int] = (1, 1 << 30)) -> list[str]:
    """Texts of a file that are about so long."""
    everything = (record.text for chunk in read_texts(path) for record in chunk)
    found = [text for text in everything if length[0] <= len(text) <= length[1]]
    return found[:: max(1, len(found) // ENOUGH)][:ENOUGH]


def _say(name: str, what: Any) -> Any:
    print(name, what, flush=True)
    return what
