"""A worker: models exchanged while it answers, and an orderly end."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from serving import served, until
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.sockets import listen
from treetop.apps.serve.worker import Worker, new_table
from treetop.errors import StoreError
from treetop.methods.xr_linear import XRLinear

SETTINGS = Settings(port=0, threads=1, feedback=None)


def test_a_replaced_folder_is_served_and_nobody_notices(model_folder: Path, plain_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model"
    shutil.copytree(model_folder, path)
    with served({"m": path}, SETTINGS) as service:
        before = service.suggest("topic1").json
        statuses: set[int] = set()
        ended = threading.Event()

        def ask() -> None:
            while not ended.is_set():
                statuses.add(service.suggest("topic1").status)

        asking = threading.Thread(target=ask)
        asking.start()
        XRLinear.load(plain_folder).save(path)
        until(lambda: service.suggest("topic1").json["kind"] == "score")
        ended.set()
        asking.join()
        assert statuses == {200}
        assert service.get("/health").json["models"][0]["version"] != before["version"]


def test_a_broken_new_model_changes_nothing(
    model_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "model"
    shutil.copytree(model_folder, path)
    with served({"m": path}, SETTINGS) as service:
        version = service.get("/health").json["models"][0]["version"]
        broken = tmp_path / "broken"
        shutil.copytree(model_folder, broken)
        (broken / "labels.jsonl").write_text('{"label": "x"}\n')
        (broken / "manifest.json").unlink()
        path.rename(tmp_path / "old")
        broken.rename(path)
        until(lambda: "stays as it is" in caplog.text)
        assert service.get("/health").json["models"][0]["version"] == version
        assert service.suggest("topic1").status == 200


def test_a_model_that_cannot_be_loaded_ends_the_worker(model_folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(model_folder, broken)
    (broken / "labels.jsonl").write_text("")
    with listen(SETTINGS) as listening, pytest.raises(StoreError, match="damaged"):
        Worker(SETTINGS, {"m": broken}, new_table({"m": broken}, 1)).run([listening])
