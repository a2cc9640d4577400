"""The command line: `python -m drills {run,page}`."""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import sys
import warnings
from dataclasses import asdict

from drills.drill import ROOT, run, work
from drills.page import record, write_page
from drills.plan import DRILLS
from treetop.version import __version__

RESULTS = ROOT / "drills" / "results"


def main() -> None:
    """Parse and do."""
    parser = argparse.ArgumentParser(prog="python -m drills", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="run drills, each for some time; exit code 1 if anything went wrong")
    running.add_argument("names", nargs="*", help=f"of {', '.join(DRILLS)}; default: all")
    running.add_argument("--seconds", type=float, default=20.0, help="for each drill")
    running.add_argument("--rounds", type=int, help="at most so many of each")
    running.add_argument("--first", type=int, default=0, help="number of the first round: the seed of what it does")
    running.add_argument("--record", action="store_true", help="keep the lines in drills/results")
    commands.add_parser("page", help="make docs/reliability.md")
    working = commands.add_parser("work", help="what `run` starts")
    working.add_argument("name")
    working.add_argument("first", type=int)
    given = parser.parse_args()
    if given.command == "work":
        warnings.simplefilter("ignore")
        work(DRILLS[given.name], given.first)
    elif given.command == "page":
        print(write_page(RESULTS, ROOT / "docs"))
    else:
        sys.exit(_run(given))


def _run(given: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    failed = 0
    date = datetime.date.today().isoformat()
    for name in given.names or DRILLS:
        outcome = run(DRILLS[name], seconds=given.seconds, rounds=given.rounds, first=given.first)
        print(json.dumps({**asdict(outcome), "date": date}, ensure_ascii=False), flush=True)
        failed |= bool(outcome.failures)
        if given.record:
            record(RESULTS, outcome, date=date, version=__version__)
    return int(failed)


if __name__ == "__main__":
    main()
