"""Damaged files for every reader, and odd options for every command: an answer or one clear line, in little memory."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from drills.commands import command
from drills.memory import forget_peak, held, peak
from drills.patience import TooLong, within
from drills.samples import Files, catalogues, folders, journal, predictions, records, settings
from drills.scrambling import scrambled
from treetop.apps.predicted import READERS, read_predictions
from treetop.apps.tuning.budget import Budget
from treetop.apps.tuning.journal import Journal
from treetop.data import read, read_texts, splits
from treetop.data.labelfile import read_catalogue
from treetop.errors import StoreError, TreetopError
from treetop.methods.catalogue import METHODS
from treetop.methods.registry import method_class
from treetop.methods.resolving import decide

__all__ = ["TRIALS", "Trial", "judged", "try_input"]

SECONDS = 20
"""CPU time after which a trial hangs."""
_ROOM, _TIMES = 200 << 20, 10
_ADDRESSES = 6 << 30
_LONGEST = 1500


@dataclass(frozen=True, slots=True)
class Trial:
    """Files, one or more of them damaged, and what is done with them."""

    files: Files
    act: Callable[[Path], object]


def try_input(place: Path, number: int) -> str:
    """One trial, and what was wrong with it."""
    random = Random(number)
    trial = random.choices(list(TRIALS), list(TRIALS.values()))[0](random)
    problem = judged(place, trial)
    return f"seed {number}: {problem}" if problem else ""


def judged(place: Path, trial: Trial) -> str:
    """Do what a trial says: an error must be one of ours, and short; time and memory have their limits."""
    os.chdir(place)
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, content in trial.files.items():
        (place / name).write_bytes(content)
    _prepare()
    forget_peak()
    before = held()
    problem = _tried(trial, place)
    room = _ROOM + _TIMES * sum(map(len, trial.files.values()))
    if not problem and (taken := peak() - before) > room:
        problem = f"{taken:,} bytes of memory"
    return problem and f"{ {name: content[:2000] for name, content in trial.files.items()} }: {problem}"


@cache
def _prepare() -> None:
    """Limit memory, and import what takes much of it, which is not the fault of an input."""
    for name in METHODS:
        method_class(name)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, hard))


def _tried(trial: Trial, place: Path) -> str:
    try:
        with within(SECONDS):
            said = trial.act(place)
    except TreetopError as error:
        return "" if len(str(error)) < _LONGEST else f"an error of {len(str(error))} characters"
    except TooLong:
        return f"more than {SECONDS} CPU-seconds"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]}; {_where(error)}"
    return said if isinstance(said, str) else ""


def _where(error: BaseException) -> str:
    trace, places = error.__traceback__, []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join(places[-5:])


def _options(random: Random) -> dict[str, Any]:
    """What `read` and `read_texts` can be asked for, mostly nothing."""
    options: dict[str, Any] = {}
    if random.random() < 0.2:
        options["text"] = random.choice(("title", ("title", "text"), ("text", "x"), "", "labels"))
    if random.random() < 0.2:
        options["encoding"] = random.choice(("latin-1", "utf-8", "utf-16", "cp1252", "utf-7", "x", "", "shift_jis"))
    if random.random() < 0.1:
        options["strip_html"] = True
    return options


def _own(random: Random) -> dict[str, Any]:
    """What `read` alone takes."""
    options = _options(random)
    if random.random() < 0.1:
        options["separator"] = random.choice((";", "", " ", "\n", "\0", "ab"))
    if random.random() < 0.1:
        options["labels"] = random.choice(("title", "id", "text", "x"))
    if random.random() < 0.1:
        options["weights"] = random.choice(("title", "labels", "x"))
    return options


def _read_file(random: Random) -> Trial:
    name = random.choice(list(records()))
    options = _own(random)
    return Trial(_damaged({name: records()[name]}, random), lambda place: _findings(read(place / name, **options)))


def _read_folder(random: Random) -> Trial:
    options, split = _own(random), random.choice(("train", "train", "train", "test", "dev", "x"))

    def act(place: Path) -> None:
        splits(place)
        _findings(read(place, split=split, **options))

    return Trial(_damaged(random.choice(folders()), random), act)


def _read_texts(random: Random) -> Trial:
    name = random.choice(list(records()))
    options, chunk = _options(random), random.choice((1, 2, 1000))
    return Trial(
        _damaged({name: records()[name]}, random),
        lambda place: list(read_texts(place / name, chunk=chunk, **options)) and None,
    )


def _read_predictions(random: Random) -> Trial:
    name = random.choice(list(predictions()))
    assert Path(name).suffix in READERS
    rows = random.choice(({}, {"a": 0, "b": 1, "c": 2, "d": 3}))
    labels = ("city", "fruit", "sweet", "weather")
    return Trial(
        _damaged({name: predictions()[name]}, random),
        lambda place: read_predictions(place / name, labels, rows, 4),
    )


def _read_settings(random: Random) -> Trial:
    files = _damaged({"a.toml": random.choice(settings())}, random)
    words = scrambled("set", b"tree.max_leaf=50", random).decode("utf-8", "surrogateescape")
    assignments = (words,) if random.random() < 0.5 else ()
    return Trial(files, lambda place: decide(None, None, str(place / "a.toml"), assignments))


def _read_catalogue(random: Random) -> Trial:
    name = random.choice(list(catalogues()))
    return Trial(_damaged({name: catalogues()[name]}, random), lambda place: len(read_catalogue(place / name)))


def _read_journal(random: Random) -> Trial:
    """The record of an interrupted search, which `--resume` reads."""
    facts, lines = journal()

    def act(place: Path) -> None:
        kept = Journal(place / "r.trials", facts, resume=True)
        for number in range(2):
            found = kept.trials(3, (0, number), list, Budget())
            with suppress(StoreError):
                kept.check(found, [(0, number)], ("p@1",), 3)
            str([one.score.standard_error for one in found])

    return Trial(_damaged({"r.trials": lines}, random), act)


def _command(random: Random) -> Trial:
    wanted = command(random)

    def act(place: Path) -> str:
        del place  # it is where we are
        return wanted.run()

    files = _damaged(wanted.files, random) if random.random() < 0.4 else wanted.files
    return Trial(files, act)


def _damaged(files: Files, random: Random) -> Files:
    name = random.choice(list(files))
    return {**files, name: scrambled(name, files[name], random)}


def _findings(dataset: Any) -> None:
    str(dataset.findings)


TRIALS: dict[Callable[[Random], Trial], int] = {
    _read_file: 34, _read_folder: 24, _read_texts: 15, _read_predictions: 9, _read_settings: 8, _read_catalogue: 4,
    _read_journal: 3, _command: 3,
}  # fmt: skip
"""How often each is taken: a command takes ten times as long as a reader."""
