"""Several workers: killed ones are replaced, models are exchanged in all, the end is orderly."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import processes
from serving import Program, until
from treetop.methods.xr_linear import XRLinear


def test_who_is_killed_is_replaced_and_all_of_them_drain(
    model_folder: Path, plain_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    shutil.copytree(model_folder, path)
    with Program(path, "--workers", "2", cwd=tmp_path) as service:
        first = processes.children(service.pid)
        assert len(first) >= 2
        assert service.suggest("topic1").json["kind"] == "probability"

        workers = processes.workers(service.pid)
        os.kill(workers[0], signal.SIGKILL)
        until(lambda: workers[0] not in processes.workers(service.pid) and len(processes.workers(service.pid)) == 2)
        assert service.patient("topic1") == 200

        XRLinear.load(plain_folder).save(path)
        service.signal(signal.SIGHUP)
        until(lambda: {service.suggest("topic1").json["kind"] for _ in range(8)} == {"score"})

        for number in range(5):
            assert service.post("/v1/feedback", {"text": f"text {number}", "added": ["a"]}).status == 201
        figures = service.get("/metrics").body.decode()
        assert 'treetop_requests_total{path="/v1/feedback",status="201"} 5.0' in figures
        assert service.stop() == 0
        assert "worker 0 ended" in service.said or "worker 1 ended" in service.said
    lines = (tmp_path / "feedback" / "model" / "train-00001.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["text"] for line in lines) == [f"text {n}" for n in range(5)]
    assert processes.workers(service.pid) == []


def test_models_that_no_worker_can_load_are_one_line_and_an_end(model_folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(model_folder, broken)
    (broken / "labels.jsonl").write_text("")
    with Program(broken, "--workers", "2", cwd=tmp_path, ready=False) as service:
        assert service.wait() == 2
        assert "damaged" in service.said
        assert "Traceback" not in service.said
