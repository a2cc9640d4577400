"""What several commands of the shell share: their options, the runtime they ask for, and where output goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, Optional

import typer

from treetop.errors import ConfigError
from treetop.methods.registry import trainable

if TYPE_CHECKING:
    from treetop.data import Dataset, LabelSpace
    from treetop.runtime import Runtime

__all__ = [
    "BUDGET_HELP", "DATA_HELP", "ENCODER_HELP", "METHOD_HELP", "METRICS_HELP", "THRESHOLD_HELP", "TRIALS_HELP", "Data",
    "Device", "Encoding", "ModelPath", "Precision", "Quiet", "Reading", "Running", "Seed", "StripHtml", "TextField",
    "Threads", "make_runtime", "method_help", "number_or_words", "numbers", "output",
]  # fmt: skip


def _names(text: str) -> str | tuple[str, ...]:
    """One name, or several with commas between them."""
    names = tuple(name.strip() for name in text.split(","))
    return names if len(names) > 1 else names[0]


def number_or_words(text: str) -> float | str:
    """A threshold: a number, or an aim such as precision:0.9."""
    try:
        return float(text)
    except ValueError:
        return text


Seed = Annotated[int, typer.Option(help="Start of every random choice.")]
Threads = Annotated[int, typer.Option(help="Threads to use; 0 for every core.")]
Device = Annotated[str, typer.Option(help="Where networks run: cpu, cuda, cuda:1, mps, …")]
Precision = Annotated[
    str, typer.Option(help="Numbers of networks: float32, bfloat16 where it pays, float16 on older GPUs.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")]


@dataclass(frozen=True)
class Reading:
    """What stands where in a file of texts and labels."""

    title: ClassVar[str] = "Files of texts and labels"
    text: TextField = "text"
    labels: Annotated[str, typer.Option(help="Field or column that holds the labels.")] = "labels"
    separator: Annotated[Optional[str], typer.Option(help="What stands between labels in one column.")] = None  # noqa: UP045
    encoding: Encoding = None
    strip_html: StripHtml = False

    def read(
        self, data: Path, runtime: Runtime | None = None, *, split: str = "train", space: LabelSpace | None = None
    ) -> Dataset:
        """The dataset of one split."""
        from treetop.data import read

        return read(
            data, split=split, space=space, text=self.text, labels=self.labels, separator=self.separator,
            encoding=self.encoding, strip_html=self.strip_html, runtime=runtime,
        )  # fmt: skip


@dataclass(frozen=True)
class Running:
    """Where a command runs, and whether it talks."""

    title: ClassVar[str] = "Running"
    threads: Threads = 0
    device: Device = "cpu"
    quiet: Quiet = False

    def runtime(self, seed: int = 0, precision: str = "float32") -> Runtime:
        """The runtime that is asked for."""
        from treetop.apps import remarks

        if self.quiet:
            remarks.quiet()
        return make_runtime(seed, self.threads, self.quiet, self.device, precision)


DATA_HELP = "File, or folder with train, dev, test: json, csv, tsv, parquet, arrow, xlsx, svm, npz."
Data = Annotated[Path, typer.Option(help=DATA_HELP)]
TextField = Annotated[
    Any,
    typer.Option(
        "--text", parser=_names, metavar="NAME[,NAME]", help="Field or column of the text; several are joined."
    ),
]
Encoding = Annotated[Optional[str], typer.Option(help="Encoding of a text file; found out if absent.")]  # noqa: UP045
StripHtml = Annotated[bool, typer.Option("--strip-html", help="Remove HTML tags from the texts.")]
ModelPath = Annotated[Path, typer.Argument(help="Model folder.", show_default=False)]
BUDGET_HELP = "Time to choose settings in, at most, such as 60, 5m, 2h, or 5mcpu for CPU time; 5m if absent."
TRIALS_HELP = "Choose by so many trials instead, whatever they take: the same again on any machine."
METRICS_HELP = "Choose settings by the mean of these; p@1,p@3,p@5 if absent."
THRESHOLD_HELP = "Leave out labels with a lower score; of calibrated models also f1, f1-macro, precision:0.9, …"
ENCODER_HELP = "Encoder of a transformer method, or one to try with auto: a folder, a hub name, 'minilm' or 'none'."


def method_help() -> str:
    """The methods that can be trained, and the extras that some of them need."""
    groups: dict[str | None, list[str]] = {}
    for record in trainable():
        groups.setdefault(record.extra, []).append(record.name)
    parts = [", ".join(names) + (f" with the extra '{extra}'" if extra else "") for extra, names in groups.items()]
    return f"auto, which chooses settings on held-out texts; {'; '.join(parts)}. auto if absent."


METHOD_HELP = method_help()


def make_runtime(seed: int, threads: int, quiet: bool, device: str = "cpu", precision: str = "float32") -> Runtime:
    """The runtime that the options of a command ask for."""
    from treetop.progress import Progress
    from treetop.runtime import Runtime

    if device == "cuda" and "LOCAL_RANK" in os.environ:  # torchrun: one GPU for each process
        device = f"cuda:{os.environ['LOCAL_RANK']}"
    progress = Progress() if quiet else True
    return Runtime(seed=seed, threads=threads, device=device, precision=precision, progress=progress)


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Numbers that were given with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"{option} is {text!r}; give numbers with commas between them, as 2,1,1") from None


@contextmanager
def output(path: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that appears complete or not at all."""
    if path is None:
        yield sys.stdout
        return
    from treetop.store import whole_file

    with whole_file(path) as file:
        yield file
