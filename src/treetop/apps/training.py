"""How the command line trains: a model ready to learn, and what is left when it has.

A method that fine-tunes an encoder keeps checkpoints in `<out>.checkpoint`, beside the model folder to be. They go when
the model is saved; a run that was cut off leaves them, and `--resume` continues it. They are never written over.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from treetop.apps.calibrating import Calibrating
from treetop.data import Dataset
from treetop.errors import ConfigError, needs_neural
from treetop.methods import Method
from treetop.methods.registry import method_class, method_record
from treetop.progress import Plan
from treetop.runtime import Runtime, available_memory, is_leader
from treetop.store import discard

__all__ = [
    "asks_to_choose",
    "check_device_memory",
    "check_memory",
    "checkpoint_folder",
    "finish",
    "learn",
    "make_model",
    "make_plan",
]

_HOPELESS = 2.0  # An estimate above this many times the free memory is refused; below it the estimate may be wrong.


def asks_to_choose(method: str | None, *own: Any, search: tuple[Any, ...] = (), resume: bool = False) -> bool:
    """Whether settings are to be found by a search: so is it unless a method or settings of one's `own` are given."""
    given = any(own)
    if method == "auto" and (given or resume):
        raise ConfigError("auto chooses settings itself; leave out --preset, --config, --set and --resume")
    automatic = method == "auto" or (method is None and not given and not resume)
    if not automatic and any(value is not None for value in search):
        raise ConfigError(
            "--budget, --trials and --metrics are for --method auto, which chooses the settings; leave them out"
        )
    return automatic


def checkpoint_folder(out: Path) -> Path:
    """Where the checkpoints of the model at `out` are."""
    return out.with_name(f"{out.name}.checkpoint")


def make_model(name: str, config: Any, out: Path, runtime: Runtime, *, resume: bool) -> Method[Any]:
    """The method, with a place for checkpoints if it can continue from them."""
    record = method_record(name)
    if record.has("members") and not config.members:
        made = "treetop ensemble MODEL MODEL … --out ENSEMBLE"
        raise ConfigError(f"an ensemble is made of trained models: {made}; or train one by --preset best")
    cls: Any = method_class(name)
    if record.has("encoder"):
        with needs_neural():  # prediction does without torch, so the method's own file does not ask for it
            import_module("treetop.neural.training")
    folder = checkpoint_folder(out)
    if not record.has("resume"):
        if resume:
            raise ConfigError(f"method '{name}' trains in one go and has nothing to resume; leave out --resume")
        plain: Method[Any] = cls(config, runtime=runtime)
        return plain
    if is_leader() and folder.exists() and not resume:  # of several processes, the first may have made it already
        raise ConfigError(f"{folder} holds an interrupted training; continue it with --resume, or remove it")
    if is_leader() and folder.exists() and _is_foreign(folder):
        raise ConfigError(f"{folder} is not a checkpoint of treetop; give another --out, or move it away")
    resumable: Method[Any] = cls(config, runtime=runtime, checkpoint=folder)
    return resumable


def _is_foreign(folder: Path) -> bool:
    """Whether a folder holds what no training left there, not even one that was killed in its first moments."""
    names = [path.name for path in folder.iterdir()]
    return "run.json" not in names and not all(re.fullmatch(r"\.run\.json\..*\.partial", name) for name in names)


def make_plan(model: Method[Any], dataset: Dataset, *, quiet: bool) -> Plan:
    """What the training will do and need; where nobody listens, only the memory. Refuses what cannot fit into it."""
    plan = Plan(memory=model.memory_estimate(dataset)) if quiet else model.plan(dataset)
    check_memory(model, plan.memory)
    check_device_memory(model, dataset)
    return plan


def check_device_memory(model: Any, dataset: Dataset) -> None:
    """The same for the memory of a GPU."""
    found = model.device_memory(dataset) if method_record(model.name).has("encoder") else None
    if found is not None:
        refuse_too_much(model, found[0], found[1], f"on {model.runtime.device}")


def check_memory(model: Method[Any], needed: int) -> None:
    """Refuse a fine-tuning that cannot fit into memory, before it begins; the estimate is right to about a third."""
    if method_record(model.name).has("encoder"):
        refuse_too_much(model, needed, available_memory())


def refuse_too_much(model: Method[Any], needed: int, there: int, where: str = "") -> None:
    """An estimate so far above what there is that even a wrong one leaves no hope."""
    if needed > _HOPELESS * there:
        raise ConfigError(
            f"this training needs about {needed / 2**30:,.1f} GiB of memory{where and ' '}{where}, "
            f"{there / 2**30:,.1f} GiB are available. {model.memory_advice}"
        )


def learn(
    model: Method[Any], calibrating: Calibrating, plan: Plan, out: Path, *, quiet: bool, keep: Dataset | None = None
) -> str | None:
    """Train by the plan, calibrate, and save, with some texts to keep; if it is interrupted, say how it goes on.

    What stood in the way of a calibration, if something did.
    """
    try:
        with model.runtime.told.following(lambda: plan):
            problem = calibrating.fit(model)
    except KeyboardInterrupt:
        if checkpoint_folder(out).exists() and not quiet:
            sys.stderr.write("interrupted; the same command with --resume continues it\n")
        raise
    if keep is not None:
        model.keep_texts(keep)
    finish(model, out)
    return problem


def finish(model: Method[Any], out: Path) -> None:
    """Save the model; its checkpoints have then served their purpose, only TensorBoard's curves are kept.

    Of several processes, each of which has the whole model, the leading one does so.
    """
    if not is_leader():
        return
    model.save(out)
    if method_record(model.name).has("resume"):
        folder = checkpoint_folder(out)
        for curves in folder.glob("*/tensorboard"):
            shutil.move(curves, out / "tensorboard" / curves.parent.name)
        discard(folder)
