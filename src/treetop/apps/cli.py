"""The command line: `treetop train | predict | evaluate | ensemble | inspect | analyse | presets | demo`.

Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Optional

import typer

from treetop.errors import ConfigError, TreetopError

if TYPE_CHECKING:
    from treetop.runtime import Runtime

__all__ = ["app", "main"]

app = typer.Typer(
    name="treetop",
    help="Give each text the few right labels out of thousands or millions.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Seed = Annotated[int, typer.Option(help="Start of every random choice.")]
Threads = Annotated[int, typer.Option(help="Threads to use; 0 for every core.")]
Device = Annotated[str, typer.Option(help="Where networks run: cpu, cuda, cuda:1, mps, …")]
Precision = Annotated[str, typer.Option(help="Numbers of a network in training: float32, or bfloat16 where it pays.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")]
Data = Annotated[Path, typer.Option(help="File, or folder with train, dev, test: jsonl, csv, tsv, parquet, svm, npz.")]
TextField = Annotated[str, typer.Option("--text", help="Field or column that holds the text.")]
LabelField = Annotated[str, typer.Option("--labels", help="Field or column that holds the labels.")]
Separator = Annotated[Optional[str], typer.Option(help="What stands between labels in one column.")]  # noqa: UP045
METHOD_HELP = "xr-linear, one-vs-all; lightxml, cascadexml, xr-transformer, x-transformer with the extra 'neural'."
ENCODER_HELP = "Encoder of a transformer method: a folder, a hub name, or 'minilm'."
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
ModelPath = Annotated[Path, typer.Argument(help="Model folder.", show_default=False)]


@app.command()
def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to put the model folder.")],
    method: Annotated[Optional[str], typer.Option(help=METHOD_HELP)] = None,  # noqa: UP045
    preset: Annotated[Optional[str], typer.Option(help="Named settings; see `treetop presets`.")] = None,  # noqa: UP045
    config: Annotated[Optional[Path], typer.Option(help="TOML file with settings, as in recipes/.")] = None,  # noqa: UP045
    assignments: Annotated[Optional[list[str]], typer.Option("--set", help="One setting: tree.max_leaf=50.")] = None,  # noqa: UP045
    encoder: Annotated[Optional[str], typer.Option(help=ENCODER_HELP)] = None,  # noqa: UP045
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted transformer training.")] = False,
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    seed: Seed = 0,
    threads: Threads = 0,
    device: Device = "cpu",
    precision: Precision = "float32",
    quiet: Quiet = False,
) -> None:
    """Learn from tagged texts and write a model folder."""
    from treetop.apps import tables
    from treetop.apps.training import check_memory, checkpoint_folder, finish, make_model
    from treetop.data import read
    from treetop.presets.registry import method_of, resolve
    from treetop.runtime import leads
    from treetop.store import Folder

    file = None if config is None else str(config)
    name = method_of(method, preset, file)
    settings = resolve(
        name,
        preset_name=preset,
        config_file=file,
        assignments=tuple(assignments or ()),
        encoder=encoder,
    )
    Folder.check_target(out)
    quiet = quiet or not leads()
    runtime = _runtime(seed, threads, quiet, device, precision)
    begun = checkpoint_folder(out).exists()
    model = make_model(name, settings, out, runtime, resume=resume)
    dataset = read(data, split="train", text=text, labels=labels, separator=separator, runtime=runtime)
    check_memory(model, dataset)
    if not quiet:
        tables.say_memory(model, dataset)
    if resume and not begun and not quiet:
        typer.echo("there is nothing to resume yet: the training begins at its start", err=True)
    try:
        model.fit(dataset)
    except KeyboardInterrupt:
        if checkpoint_folder(out).exists() and not quiet:
            typer.echo("interrupted; the same command with --resume continues it", err=True)
        raise
    finish(model, out)
    if not quiet:
        tables.say_trained(model, out)


@app.command()
def predict(
    model: ModelPath,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="jsonl, csv, tsv, parquet or txt file; - for stdin.")],
    k: Annotated[int, typer.Option("--k", "-k", help="Labels per text.")] = 5,
    out: Annotated[Optional[Path], typer.Option(help="File to write; standard output if absent.")] = None,  # noqa: UP045
    text: TextField = "text",
    chunk: Annotated[int, typer.Option(help="Texts at a time.")] = 1024,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Suggest labels for texts: one JSON line per text, with label names and scores."""
    from treetop.data import read_texts
    from treetop.methods import load
    from treetop.predictions import check_k

    check_k(k)
    loaded = load(model, runtime=_runtime(0, threads, quiet=True, device=device))
    with _output(out) as file:
        for records in read_texts(source, text=text, chunk=chunk):
            found = loaded.predict([record.text for record in records], k)
            for record, suggestions in zip(records, found, strict=True):
                row: dict[str, Any] = {} if record.id is None else {"id": record.id}
                row["labels"] = [one.label for one in suggestions]
                row["scores"] = [float(f"{one.score:.6g}") for one in suggestions]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()


@app.command()
def evaluate(
    model: ModelPath,
    data: Data,
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    metrics: Annotated[Optional[str], typer.Option(help="Such as p@1,ndcg@5; all of the usual if absent.")] = None,  # noqa: UP045
    benchmark: Annotated[Optional[str], typer.Option(help="Public dataset whose propensity constants to use.")] = None,  # noqa: UP045
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Also write the figures to this file.")] = None,  # noqa: UP045
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    threads: Threads = 0,
    device: Device = "cpu",
    quiet: Quiet = False,
) -> None:
    """Measure a model on labelled texts."""
    from treetop.apps import tables
    from treetop.apps.measure import measure
    from treetop.data import read
    from treetop.methods import load

    runtime = _runtime(0, threads, quiet, device)
    loaded = load(model, runtime=runtime)
    dataset = read(
        data, split=split, space=loaded.space, text=text, labels=labels, separator=separator, runtime=runtime
    )
    figures = measure(loaded, dataset, metrics.split(",") if metrics else None, benchmark)
    tables.show_figures(figures)
    if json_file is not None:
        with _output(json_file) as file:
            file.write(json.dumps(figures.flat(), indent=2) + "\n")


@app.command()
def ensemble(
    models: Annotated[list[Path], typer.Argument(help="Model folders, of the same labels.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Where to put the folder of the ensemble.")],
    fuser: Annotated[Optional[str], typer.Option(help="What is averaged: rank_average, average, …")] = None,  # noqa: UP045
    weights: Annotated[Optional[str], typer.Option(help="A number per model, as 2,1,1.")] = None,  # noqa: UP045
    data: Annotated[Optional[Path], typer.Option(help="Choose members, fuser and weights on these texts.")] = None,  # noqa: UP045
    split: Annotated[str, typer.Option(help="Which part of the data; not the one you will report.")] = "dev",
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    threads: Threads = 0,
    device: Device = "cpu",
    quiet: Quiet = False,
) -> None:
    """Let trained models vote: one model folder like any other."""
    from treetop.apps import tables
    from treetop.config import override
    from treetop.data import read
    from treetop.methods import load
    from treetop.methods.ensemble import Ensemble, EnsembleConfig, choose
    from treetop.store import Folder

    if data is not None and (fuser or weights):
        raise ConfigError("--data chooses fuser and weights; leave out --fuser and --weights, or --data")
    Folder.check_target(out)
    if out.resolve() in [path.resolve() for path in models]:
        raise ConfigError(f"--out is {out}, one of the members, which would be replaced; choose another place")
    runtime = _runtime(0, threads, quiet, device)
    members = [load(path, runtime=runtime) for path in models]
    if data is None:
        settings = override(EnsembleConfig(), [f"fuser={fuser or 'rank_average'}"])
        model = Ensemble.of(members, replace(settings, weights=_numbers("--weights", weights) if weights else None))
    else:
        space = members[0].space
        dataset = read(data, split=split, space=space, text=text, labels=labels, separator=separator, runtime=runtime)
        model = choose(members, dataset)
    model.save(out)
    if not quiet:
        tables.say_ensemble(model, [path for path, one in zip(models, members, strict=True) if one in model.members])


@app.command()
def inspect(
    model: ModelPath,
    depth: Annotated[int, typer.Option(help="Levels of the label tree to show.")] = 2,
) -> None:
    """Show what a model folder holds."""
    from treetop.apps import tables
    from treetop.methods import load

    tables.show_model(load(model), model, depth)


@app.command()
def analyse(
    model: ModelPath,
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")],
    split: Annotated[str, typer.Option(help="Which part of the data.")] = "test",
    limit: Annotated[int, typer.Option(help="Texts to look at, taken evenly; 0 for all.")] = 2000,
    text: TextField = "text",
    labels: LabelField = "labels",
    separator: Separator = None,
    threads: Threads = 0,
    device: Device = "cpu",
) -> None:
    """Draw what happens inside a transformer: shortlist recall, attention and likeness of layers."""
    from treetop.apps import tables
    from treetop.data import read
    from treetop.errors import needs_neural
    from treetop.methods import load

    with needs_neural():
        from treetop.apps.analysis import analyse, draw
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out is {out}: no folder can be made there ({error.strerror}); choose another") from None
    loaded = load(model, runtime=_runtime(0, threads, quiet=False, device=device))
    dataset = read(data, split=split, space=loaded.space, text=text, labels=labels, separator=separator)
    if 0 < limit < len(dataset):
        dataset = dataset.take([number * len(dataset) // limit for number in range(limit)])
    found = analyse(loaded, dataset)
    tables.show_analysis(found, draw(found, out))


@app.command()
def presets() -> None:
    """List the named settings and the methods."""
    from treetop.apps import tables

    tables.show_presets()


@app.command()
def demo(
    out: Annotated[Optional[Path], typer.Option(help="Keep the model in this folder.")] = None,  # noqa: UP045
    transformer: Annotated[bool, typer.Option(help="Go on with a transformer, if the extra 'minilm' is there.")] = True,
    threads: Threads = 0,
) -> None:
    """Train on the docstrings of this Python installation, and look at what comes out."""
    from treetop.apps.demo import run_demo

    run_demo(out, _runtime(0, threads, quiet=False), transformer=transformer)


def main() -> None:
    """Run the command line; an error meant for the user is one line and exit code 2."""
    try:
        app()
    except TreetopError as error:
        _fail(f"error: {error}")
    except MemoryError:
        _fail("error: not enough memory; use fewer texts, a higher tfidf.min_df or a larger linear.solver.threshold")
    except RuntimeError as error:  # torch has no exception of its own for memory that the system refuses
        if not any(words in str(error).lower() for words in _NO_MEMORY):
            raise
        _fail("error: not enough memory; lower optim.batch_size or encoder.max_tokens, or raise encoder.freeze")
    except BrokenPipeError:  # The reader of a pipe left early, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    typer.echo(" ".join(message.split("\n")), err=True)
    sys.exit(2)


def _runtime(seed: int, threads: int, quiet: bool, device: str = "cpu", precision: str = "float32") -> Runtime:
    from treetop.runtime import Runtime

    if device == "cuda" and "LOCAL_RANK" in os.environ:  # torchrun: one GPU for each process
        device = f"cuda:{os.environ['LOCAL_RANK']}"
    progress = not quiet and sys.stderr.isatty()
    return Runtime(seed=seed, threads=threads, device=device, precision=precision, progress=progress)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"{option} is {text!r}; give numbers with commas between them, as 2,1,1") from None


@contextmanager
def _output(path: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that appears complete or not at all."""
    if path is None:
        yield sys.stdout
        return
    from treetop.store import whole_file

    with whole_file(path) as file:
        yield file
