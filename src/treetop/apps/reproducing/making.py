"""Making it: models trained in turn, their rankings kept in files and fused piece by piece.

A folder holds the whole run, and the same command continues it: what is finished is not done again, a training that was
cut off goes on from its checkpoint. No two models are in memory together, and none is copied.

    run.json                     what is made here, of which texts
    embedding-<kind>.safetensors what an encoder makes of labels, read once for the models that share it
    <model>/                     the model; not with models=False
    <model>.checkpoint/          of a training that is not finished
    <model>.safetensors          its rankings of the test texts
    <model>.json                 its figures, written last
    result.json                  all figures, and the published ones
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.apps.reproducing.order import Order, Planned
from treetop.apps.training import check_device_memory, check_memory, checkpoint_folder
from treetop.config import to_dict
from treetop.errors import ConfigError, StoreError
from treetop.methods import Method, load
from treetop.methods.registry import method_class
from treetop.metrics import Propensity, evaluate
from treetop.predictions import Ask, Predictions, fuse
from treetop.presets.datasets import propensity_constants
from treetop.runtime import Runtime, is_leader
from treetop.store import Folder, discard, whole_file

if TYPE_CHECKING:
    from treetop.neural.sharing import Sharing

__all__ = ["METRICS", "Made", "make"]

METRICS = ("p@1", "p@3", "p@5", "psp@1", "psp@3", "psp@5")
RUN, RESULT = "run.json", "result.json"
_DEPTH = 50  # Labels of each model that are fused, as `Ensemble` takes them.
_AT_ONCE = 16_384  # Texts whose rankings are fused together.


@dataclass(frozen=True, slots=True)
class Made:
    """Figures of one model, or of all together."""

    name: str
    metrics: dict[str, float]
    hours: float


def make(order: Order, out: Path, runtime: Runtime, *, models: bool = True) -> list[Made]:
    """The figures of every model, and last those of all fused; of several processes, the leading one has them."""
    from treetop.neural.parallel import world_of
    from treetop.neural.sharing import Sharing

    sharing = Sharing(world_of(runtime), out)
    sharing.first(lambda: _claim(order, out, runtime))
    made = [_member(order, member, out, runtime, sharing, models=models) for member in order.members]
    if not is_leader():
        return []
    if len(made) > 1:
        hours = sum(one.hours for one in made)
        fused = _fused([_rankings(out, member.name) for member in order.members], order)
        made.append(Made(f"all, {order.preset.fuser}", _figures(fused, order), hours))
    for file in out.glob("embedding-*.safetensors"):
        file.unlink()
    published = [asdict(row) for row in order.preset.published]
    figures = {"made": [asdict(one) for one in made], "published": published, "remarks": list(order.remarks)}
    _write_json(out / RESULT, figures)
    return made


def _claim(order: Order, out: Path, runtime: Runtime) -> None:
    """Make a folder that of this run, or refuse if it holds another one."""
    now = {
        "preset": order.preset.name,
        "texts": len(order.train),
        "labels": len(order.train.space),
        "test": len(order.test),
        "precision": runtime.precision,
        "members": {member.name: {"seed": member.seed, **to_dict(member.config)} for member in order.members},
    }
    now = json.loads(json.dumps(now))
    if (out / RUN).exists():
        before = Folder(out).read_json(RUN)
        different = [key for key in now if not isinstance(before, dict) or before.get(key) != now[key]]
        if different:
            raise ConfigError(f"{out} holds another run ({', '.join(different)} differ); give another --out")
        return
    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty and holds no run to continue; give another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_json(out / RUN, now)
    except OSError as error:
        raise StoreError(f"nothing can be written here ({error.strerror or error})", path=out) from error


def _member(order: Order, member: Planned, out: Path, runtime: Runtime, sharing: Sharing, *, models: bool) -> Made:
    """Train one model unless that is done, and keep its rankings and figures."""
    done = out / f"{member.name}.json"
    if sharing.told(done.exists):
        return Made(**Folder(out).read_json(done.name))
    model = _model(order, member, out, replace(runtime, seed=member.seed), sharing)
    if not is_leader():
        return Made(member.name, {}, 0.0)
    depth = min(_DEPTH + order.test.most_filtered, len(order.train.space))
    rankings = model._rank(order.test.corpus, Ask(depth))  # scores as they are fused
    made = Made(member.name, _figures([rankings], order), model.training["wall_seconds"] / 3600)
    _keep(rankings, out, member.name)
    _write_json(done, asdict(made))
    if not models:
        discard(out / member.name)
    return made


def _model(order: Order, member: Planned, out: Path, runtime: Runtime, sharing: Sharing) -> Method[Any]:
    """The trained model: as it was saved, or trained now."""
    place = out / member.name
    if sharing.told(place.exists):
        return load(place, runtime=runtime)
    cls: Any = method_class(order.preset.method)
    model: Method[Any] = cls(member.config, runtime=runtime, checkpoint=checkpoint_folder(place))
    embedding = _shared_embedding(model, order, out, sharing)
    if embedding is not None:
        model = cls(member.config, runtime=runtime, checkpoint=checkpoint_folder(place), embedding=embedding)
    check_memory(model, model.memory_estimate(order.train))
    check_device_memory(model, order.train)
    model.fit(order.train)
    if is_leader():
        model.save(place)
        discard(checkpoint_folder(place))
    return model


def _shared_embedding(model: Any, order: Order, out: Path, sharing: Sharing) -> Any:
    """What labels are represented by, read once for all models that have it in common."""
    if getattr(model.config, "representation", "pifa") == "pifa":
        return None
    name = f"embedding-{model.config.representation}.safetensors"

    def read_once() -> bool:
        if not (out / name).exists():
            _put_tensors(out, name, {"embedding": model.embed_for_labels(order.train)})
        return True

    sharing.first(read_once)
    return Folder(out).read_tensors(name)["embedding"]


def _keep(rankings: Predictions, out: Path, name: str) -> None:
    kind = np.frombuffer(rankings.kind.encode(), np.uint8)
    _put_tensors(out, f"{name}.safetensors", {"labels": rankings.labels, "scores": rankings.scores, "kind": kind})


def _rankings(out: Path, name: str) -> Predictions:
    """The rankings of one model, mapped from their file."""
    found = Folder(out).read_tensors(f"{name}.safetensors")
    kind: Any = found["kind"].tobytes().decode()
    return Predictions(found["labels"], found["scores"], kind=kind)


def _fused(several: list[Predictions], order: Order) -> Iterator[Predictions]:
    """All rankings as one, some thousands of texts at a time."""
    k = max(int(name.split("@")[1]) for name in METRICS) + order.test.most_filtered
    bounds = [*range(0, len(several[0]), _AT_ONCE), len(several[0])]
    for first, last in pairwise(bounds):
        yield fuse([one[first:last] for one in several], order.preset.fuser, k=k)


def _figures(parts: Iterable[Predictions], order: Order) -> dict[str, float]:
    """Figures of rankings that come in parts, as fractions."""
    parts = list(parts)
    k = min(part.k for part in parts)
    labels, scores = (np.concatenate([getattr(part, name)[:, :k] for part in parts]) for name in ("labels", "scores"))
    a, b = propensity_constants(str(order.preset.dataset))
    rankings = Predictions(labels, scores, order.train.space.names, parts[0].kind)
    propensity = Propensity(a=a, b=b, train_texts=len(order.train))
    return evaluate(rankings, order.test, METRICS, frequency=order.train.frequency, propensity=propensity)


def _put_tensors(out: Path, name: str, arrays: dict[str, Any]) -> None:
    Folder(out).write_tensors(f"{name}.part", arrays)
    (out / f"{name}.part").replace(out / name)


def _write_json(path: Path, value: Any) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(value, indent=2) + "\n")
