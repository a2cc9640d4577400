"""The command line: a command is a file in `treetop.apps.commands` and a line here.

Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from treetop.apps.commands.analyse import analyse
from treetop.apps.commands.calibrate import calibrate
from treetop.apps.commands.compare import compare
from treetop.apps.commands.demo import demo
from treetop.apps.commands.ensemble import ensemble
from treetop.apps.commands.evaluate import evaluate
from treetop.apps.commands.explain import explain
from treetop.apps.commands.inspect import inspect
from treetop.apps.commands.look import look
from treetop.apps.commands.predict import predict
from treetop.apps.commands.presets import presets
from treetop.apps.commands.pull import pull
from treetop.apps.commands.push import push
from treetop.apps.commands.report import report
from treetop.apps.commands.reproduce import reproduce
from treetop.apps.commands.serve import serve
from treetop.apps.commands.split import split
from treetop.apps.commands.train import train
from treetop.apps.commands.tune import tune
from treetop.apps.groups import ungrouped
from treetop.errors import TreetopError
from treetop.version import __version__

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = (
    look, split, train, calibrate, predict, explain, evaluate, compare, report, ensemble, inspect, analyse, serve,
    push, pull, presets, reproduce, demo,
    tune,
)  # fmt: skip
"""In the order of `--help`."""
_Misused: Any = typer.BadParameter.__bases__[0]  # UsageError, which typer takes from click or has of its own
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")

app = typer.Typer(
    name="treetop",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Strict(TyperCommand):
    """A command that refuses an option given twice where one is meant, of which the last would count, silently.

    And it says where data goes that stands without its option.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            known, rest, given = self.make_parser(ctx).parse_args(args=list(args))
            if rest and "data" not in known and any("--data" in one.opts for one in self.params):
                ctx.fail(f"data goes behind its option: --data {rest[0]}")
            for one, times in Counter(given).items():
                if times > 1 and not getattr(one, "multiple", True) and not getattr(one, "is_flag", True):
                    ctx.fail(f"{one.opts[0]} is given {times} times; give it once{_several(one.opts[0])}")
        return super().parse_args(ctx, args)


def _several(option: str) -> str:
    return ", with commas between the names: --text title,body" if option == "--text" else ""


for command in COMMANDS:
    app.command(cls=_Strict)(ungrouped(command))


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"treetop {__version__}")
        raise typer.Exit


@app.callback()
def treetop(
    version: Annotated[
        bool, typer.Option("--version", help="Say which treetop this is.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Give each text the few right labels out of thousands or millions."""


def main() -> None:
    """Run the command line; an error meant for the user is one line and exit code 2."""
    try:
        _run()
    except TreetopError as error:
        _fail(f"error: {error}")
    except MemoryError:
        _fail("error: not enough memory; use fewer texts, a higher tfidf.min_df or a larger linear.solver.threshold")
    except RuntimeError as error:  # torch has no exception of its own for memory that the system refuses
        if not any(words in str(error).lower() for words in _NO_MEMORY):
            raise
        _fail("error: not enough memory; lower optim.batch_size or encoder.max_tokens, or raise encoder.freeze")
    except BrokenPipeError:  # The reader of a pipe left early, as `head` does.
        _write_nothing_more()
    except OSError as error:  # a full disk behind standard output, a file that cannot be read
        _write_nothing_more()
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"error: {place}{error.strerror or error}")


def _run() -> None:
    from treetop.apps.remarks import said_plainly

    ended = None
    try:
        with said_plainly():
            ended = app(standalone_mode=False)
    except typer.Abort:
        ended = 1
    except _Misused as error:
        if len(sys.argv) > 1:
            _fail(_misuse(error))
        error.show()  # the help, as nothing was asked for
        ended = 2
    finally:
        sys.stdout.flush()  # now, so that a disk that is full is an error like any other
    if isinstance(ended, int):
        sys.exit(ended)


def _misuse(error: Any) -> str:
    """What is wrong with options and arguments, in a line."""
    problem = error.format_message().rstrip(".")
    command = "treetop" if error.ctx is None else error.ctx.command_path
    return f"error: {problem[:1].lower()}{problem[1:]}; see {command} --help"


def _write_nothing_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    typer.echo(" ".join(str(TreetopError(message)).split("\n")), err=True)  # as short as all errors are
    sys.exit(2)
