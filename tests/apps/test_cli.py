"""The command line as a whole: quick help, and mistakes that are one clear line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shell import complain, run
from treetop.apps.cli import main
from treetop.version import __version__


def test_help_loads_nothing_heavy() -> None:
    """Seconds depend on the machine; what is imported does not."""
    code = (
        "import sys; sys.argv = ['treetop', '--help']\n"
        "from treetop.apps.cli import app\n"
        "app(standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'polars', 'torch', 'transformers', 'treetop.kernels'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout


MISTAKES = {
    "no such data": (("train", "--data", "nowhere", "--out", "m"), "nowhere"),
    "no such method": (("train", "--data", "DATA", "--out", "m", "--method", "xr-liner"), "did you mean 'xr-linear'"),
    "no such preset": (("train", "--data", "DATA", "--out", "m", "--preset", "bonsay"), "did you mean 'bonsai'"),
    "no such option": (("train", "--data", "DATA", "--out", "m", "--set", "tree.max_lef=3"), "did you mean 'max_leaf'"),
    "not a number": (("train", "--data", "DATA", "--out", "m", "--set", "tree.max_leaf=x"), "max_leaf"),
    "impossible": (("train", "--data", "DATA", "--out", "m", "--set", "linear.solver.eps=-1"), "must be positive"),
    "no such field": (("train", "--data", "DATA", "--out", "m", "--labels", "tags"), "tags"),
    "no such split": (("evaluate", "MODEL", "--data", "DATA", "--split", "dev"), "dev"),
    "no such model": (("predict", "nowhere", "DATA/test.jsonl"), "nowhere"),
    "k of zero": (("predict", "MODEL", "DATA/test.jsonl", "--k", "0"), "at least one"),
    "no such metric": (("evaluate", "MODEL", "--data", "DATA", "--metrics", "pp@1"), "pp@1"),
    "encoder of a linear method": (
        ("train", "--data", "DATA", "--out", "m", "--method", "xr-linear", "--encoder", "minilm"),
        "method 'xr-linear' has no encoder",
    ),
    "nothing to resume": (("train", "--data", "DATA", "--out", "m", "--resume"), "nothing to resume"),
    "an ensemble of nobody": (("train", "--data", "DATA", "--out", "m", "--method", "ensemble"), "treetop ensemble"),
    "a folder of texts": (("predict", "MODEL", "DATA"), "this is a folder"),
    "a seed too large": (("train", "--data", "DATA", "--out", "m", "--seed", str(2**70)), "seed is 11805916207"),
    "too many threads": (("predict", "MODEL", "DATA/test.jsonl", "--threads", str(2**40)), "threads is 1099511627776"),
    "a number too large": (
        ("train", "--data", "DATA", "--out", "m", "--set", "linear.solver.max_iter=99999999999"),
        "'linear.solver.max_iter' is 99999999999; whole numbers end at 2,147,483,647",
    ),
    "an infinite number": (
        ("train", "--data", "DATA", "--out", "m", "--set", "linear.solver.threshold=Infinity"),
        "'linear.solver.threshold' is inf; expected a finite number",
    ),
    "infinite weights": (
        ("ensemble", "MODEL", "MODEL", "--out", "m", "--weights", "inf,1"),
        "is inf; expected a finite",
    ),
    "too many digits": (("train", "--data", "DATA", "--out", "m", "--set", "trees=" + "7" * 5000), "'trees' is '777"),
    "too deep": (("train", "--data", "DATA", "--out", "m", "--set", "trees=" + "[" * 9999), "'trees' is '[["),
    "a name too long": (("train", "--data", "DATA", "--out", "m" * 250), "File name too long"),
    "a model with a long name": (("predict", "m" * 300, "DATA/test.jsonl"), "File name too long"),
    "negative threads": (("train", "--data", "DATA", "--out", "m", "--threads", "-1"), "threads"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_one_clear_line_and_exit_2(mistake: str, model: Path, folder: Path) -> None:
    arguments, expected = MISTAKES[mistake]
    done = run(*(a.replace("DATA", str(folder)).replace("MODEL", str(model)) for a in arguments))
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert expected in done.stderr
    assert len(done.stderr) < 600
    assert not Path("m").exists()


def test_the_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"treetop {__version__}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_standard_output_is_one_clear_line(model: Path, folder: Path) -> None:
    for arguments in (("predict", str(model), str(folder / "test.jsonl")), ("presets",), ("--help",)):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "treetop", *arguments]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        assert done.returncode == 2, arguments
        assert done.stderr == "error: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "--data", "d"), "missing option '--out'; see "),
        (("train", "--dat", "d"), "no such option: --dat (Possible options: --budget, --data, --set); see "),
        (("train", "--data"), "option '--data' requires an argument; see "),
        (("train", "--data", "d", "--out", "m", "--seed", "x"), "invalid value for '--seed': "),
        (("predict", "m"), "missing argument 'INPUT'; see "),
        (("train", "d", "--out", "m"), "data goes behind its option: --data d; see "),
        (("evaluate", "m", "d"), "data goes behind its option: --data d; see "),
        (
            ("look", "d", "--text", "a", "--text", "b"),
            "--text is given 2 times; give it once, with commas",
        ),
        (("train", "--data", "d", "--data", "e", "--out", "m"), "--data is given 2 times; give it once; see "),
        (("trian",), "no such command 'trian'. Did you mean 'train'?; see "),
    ],
)
def test_wrong_options_are_one_clear_line_too(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    line = complain([*arguments], monkeypatch, capfd)
    assert line.startswith(f"error: {said}")
    assert line.endswith(" --help\n")


def test_nothing_asked_for_is_help(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["treetop"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "Give each text the few right labels" in "".join(capfd.readouterr())
