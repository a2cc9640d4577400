"""Coverage-guided fuzzing: bytes that lead a reader, or the loading of a model, to lines that no input has reached.

A target is a function of bytes. The corpus it begins with is committed in `drills/corpus`, as is every input that once
broke something, in `drills/corpus/broken`: tests run them all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path

from drills.drill import MODELS, ROOT

__all__ = ["CORPUS", "EXECUTIONS", "TARGETS", "fuzz", "target_of", "try_bytes"]

CORPUS = ROOT / "drills" / "corpus"
EXECUTIONS = 1000
"""Inputs of a round."""
_LONGEST = 8192
_SECONDS, _MEGABYTES = 20, 3000
_READ = (".jsonl", ".json", ".csv", ".tsv", ".svm", ".parquet", ".arrow", ".xlsx", ".jsonl.gz")
_PREDICTIONS = (".jsonl", ".csv", ".trec", ".npz", ".parquet")
_OF_A_MODEL = ("model.json", "labels.jsonl", "labels.safetensors", "tfidf.json")


def _reader(suffix: str) -> Callable[[Path, bytes], object]:
    def read_it(place: Path, content: bytes) -> object:
        from treetop.data import read

        path = place / f"a{suffix}"
        path.write_bytes(content)
        return str(read(path).findings)

    return read_it


def _of_texts(place: Path, content: bytes) -> object:
    from treetop.data import read_texts

    path = place / "a"
    path.write_bytes(content)
    return list(read_texts(path, chunk=3, strip_html=True))


def _of_predictions(suffix: str) -> Callable[[Path, bytes], object]:
    def read_it(place: Path, content: bytes) -> object:
        from treetop.apps.predicted import read_predictions

        path = place / f"p{suffix}"
        path.write_bytes(content)
        return read_predictions(path, ("city", "fruit", "sweet", "weather"), {}, 4)

    return read_it


def _matrices(place: Path, content: bytes) -> object:
    """The features of a benchmark, beside good labels."""
    from drills.samples import folders
    from treetop.data import read

    (place / "X.trn.npz").write_bytes(content)
    (place / "Y.trn.npz").write_bytes(folders()[0]["Y.trn.npz"])
    return read(place)


def _settings(place: Path, content: bytes) -> object:
    from treetop.methods.resolving import decide

    path = place / "a.toml"
    path.write_bytes(content)
    return decide(None, None, str(path))


def _part(name: str) -> Callable[[Path, bytes], object]:
    """A model of which one file is the input; it is asked when it loads."""

    def load_it(place: Path, content: bytes) -> object:
        from treetop.methods import load
        from treetop.runtime import Runtime

        copy = place / "model"
        if not copy.exists():
            shutil.copytree(MODELS / "xr-linear", copy)
        (copy / name).write_bytes(content)
        return load(copy, runtime=Runtime(threads=1)).predict(["apple pie", ""], k=2)

    return load_it


TARGETS: dict[str, Callable[[Path, bytes], object]] = {
    **{f"read{suffix}": _reader(suffix) for suffix in _READ},
    "texts": _of_texts,
    **{f"predictions{suffix}": _of_predictions(suffix) for suffix in _PREDICTIONS},
    "matrices.npz": _matrices,
    "settings.toml": _settings,
    **{f"load-{name}": _part(name) for name in _OF_A_MODEL},
}


def try_bytes(name: str, place: Path, content: bytes) -> None:
    """Give bytes to a target; only an error of ours may come of it."""
    from treetop.errors import TreetopError

    try:
        TARGETS[name](place, content)
    except TreetopError:
        pass
    except BaseException as error:
        if type(error).__name__ == "PanicException" or isinstance(error, Exception | SystemExit):
            raise RuntimeError(f"{name}: {type(error).__name__}: {error}") from error
        raise


def target_of(number: int) -> str:
    """The target of a round."""
    return list(TARGETS)[number % len(TARGETS)]


def fuzz(place: Path, number: int) -> str:
    """So many inputs for one target, in a process of their own; those that break something are kept."""
    name = target_of(number)
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = place / "found"
    shutil.copytree(CORPUS / name, found)
    broken = place / "broken"
    broken.mkdir()
    command = [sys.executable, "-m", "drills.fuzzing", name, str(found), f"-artifact_prefix={broken}/"]
    command += [f"-runs={EXECUTIONS}", f"-seed={number + 1}", f"-max_len={_LONGEST}", f"-timeout={_SECONDS}"]
    command += [f"-rss_limit_mb={_MEGABYTES}", "-detect_leaks=0", "-report_slow_units=60"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    kept = [_keep(path, name) for path in broken.iterdir()]
    if done.returncode == 0 and not kept:
        return ""
    told = [line for line in done.stderr.splitlines() if "Error" in line or "ERROR" in line]
    return f"{name}, seed {number + 1}, kept as {kept}: {'; '.join(told[-4:])[-600:] or done.stderr[-600:]}"


def _keep(path: Path, name: str) -> str:
    place = CORPUS / "broken" / name
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, place / path.name[-24:])
    return path.name[-24:]


def _main() -> None:
    """`python -m drills.fuzzing TARGET …`: libFuzzer's own command line behind the target."""
    import atheris

    sys.path.insert(
        0, str(ROOT / "src")
    )  # before the finder of an editable install, whose modules atheris leaves alone
    sys.meta_path.insert(0, PathFinder)
    with atheris.instrument_imports(include=["treetop"], enable_loader_override=False):
        pass
    os.environ["RUST_BACKTRACE"] = "0"
    name = sys.argv.pop(1)
    with tempfile.TemporaryDirectory(prefix="treetop-fuzz-") as place:
        atheris.Setup(sys.argv, lambda content: try_bytes(name, Path(place), content))
        atheris.Fuzz()


def write_corpus() -> None:
    """The inputs to begin with: the good files of the other drills, and the files of a model."""
    from drills.samples import folders, predictions, records, settings

    matrices = [content for folder in folders() for name, content in folder.items() if name == "X.trn.npz"]
    seeds = {f"read{suffix}": [_good(suffix, records())] for suffix in _READ}
    seeds |= {f"predictions{suffix}": [predictions()[f"p{suffix}"]] for suffix in _PREDICTIONS}
    seeds |= {"texts": [records()["a.txt"], records()["a.jsonl"]], "matrices.npz": matrices}
    seeds |= {"settings.toml": list(settings())}
    seeds |= {f"load-{name}": [(MODELS / "xr-linear" / name).read_bytes()] for name in _OF_A_MODEL}
    for name, contents in seeds.items():
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(contents):
            (CORPUS / name / str(number)).write_bytes(content)


def _good(suffix: str, files: dict[str, bytes]) -> bytes:
    return files[f"a{suffix}"]


if __name__ == "__main__":
    _main()
