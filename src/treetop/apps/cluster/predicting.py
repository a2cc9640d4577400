"""Suggestions for many texts, by a pool of Ray actors that each map the same model.

Texts are cut into chunks, files in the shared folder; each chunk's suggestions are a file there, too. A chunk whose
actor is lost is done again, and one that is done is not, also after the driver was killed: in the end every text has
its suggestions once, in the order of the texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray
import ray.data

from treetop.apps.cluster.shared import SharedFolder
from treetop.data.records import Record
from treetop.errors import ServiceError, TreetopError
from treetop.predictions import Predictions
from treetop.store import discard, whole_file

if TYPE_CHECKING:
    from treetop.methods import Method

__all__ = ["predict_on_cluster"]

_RESULTS = "suggestions"
_ROUNDS = 3  # of asking for what is missing, should Ray give up on a chunk


def predict_on_cluster(
    model: Method[Any],
    folder: Path,
    chunks: Iterable[Sequence[Record]],
    ask: dict[str, Any],
    shared: Path,
    write: Callable[[Sequence[Any], Predictions], None],
) -> None:
    """Have the model in a folder, which every machine sees, suggest labels for chunks of texts."""
    place = SharedFolder(shared)
    place.open()
    empty = model.predict([], **ask)  # what cannot be asked for is refused at once
    ids = _put_texts(place, folder, ask, chunks)
    for _ in range(_ROUNDS):
        if missing := _missing(place, len(ids)):
            _do(place.path, folder, ask, missing)
    if missing := _missing(place, len(ids)):
        raise ServiceError(f"the cluster lost {len(missing)} of {len(ids)} chunks {_ROUNDS} times; run it again", 0)
    for number, of_chunk in enumerate(ids):
        found = place.result(_RESULTS, number)
        write(of_chunk, replace(empty, labels=found["labels"], scores=found["scores"]))
    discard(place.path)


def _missing(place: SharedFolder, chunks: int) -> list[int]:
    return [number for number in range(chunks) if not place.has_result(_RESULTS, number)]


def _put_texts(
    place: SharedFolder, folder: Path, ask: dict[str, Any], chunks: Iterable[Sequence[Record]]
) -> list[list[Any]]:
    """Write a file for each chunk; results for other texts, another model or another question go away.

    The ids of the texts of each chunk.
    """
    ids, digest = [], blake2b(json.dumps([str(folder.absolute()), ask]).encode(), digest_size=16)
    digest.update((folder / "manifest.json").read_bytes())
    for number, records in zip(count(), chunks):
        written = json.dumps([record.text for record in records])
        digest.update(written.encode())
        with whole_file(_texts_at(place, number)) as file:
            file.write(written)
        ids.append([record.id for record in records])
    mark = place.path / "question"
    if not mark.exists() or mark.read_text(encoding="ascii") != digest.hexdigest():
        discard(place.path / "results" / _RESULTS)
        with whole_file(mark) as file:
            file.write(digest.hexdigest())
    return ids


def _texts_at(place: SharedFolder, number: int) -> Path:
    return place.path / "texts" / f"{number:06}.json"


def _do(shared: Path, folder: Path, ask: dict[str, Any], numbers: list[int]) -> None:
    most = max(1, int(ray.cluster_resources().get("CPU", 1)) - 1)  # one is left for reading the numbers
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    data = ray.data.from_items([{"number": number} for number in numbers], override_num_blocks=len(numbers))
    done = data.map_batches(
        _Suggest,
        fn_constructor_args=[shared, folder.absolute(), ask],
        batch_size=1,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=most),
        max_restarts=-1,
        max_task_retries=-1,
    )
    for row in done.iter_rows():
        if row["problem"]:
            raise ServiceError(f"{row['problem']}; run the same command again: what is done stays done", 0)


class _Suggest:
    """An actor: the model, mapped, and the question."""

    def __init__(self, shared: Path, folder: Path, ask: dict[str, Any]) -> None:
        from treetop.methods import load
        from treetop.runtime import Runtime

        self._place, self._ask = SharedFolder(shared), ask
        self._model = load(folder, runtime=Runtime(threads=1))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"number": batch["number"], "problem": [self._chunk(int(number)) for number in batch["number"]]}

    def _chunk(self, number: int) -> str:
        try:
            if not self._place.has_result(_RESULTS, number):
                texts = json.loads(_texts_at(self._place, number).read_text(encoding="utf-8"))
                found = self._model.predict(texts, **self._ask)
                self._place.put_result(_RESULTS, number, {"labels": found.labels, "scores": found.scores})
        except (TreetopError, OSError) as error:
            return f"{error} (machine {ray.util.get_node_ip_address()})"
        return ""
