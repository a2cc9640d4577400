"""Corrections that cannot be kept."""

from __future__ import annotations

from pathlib import Path

from serving import served
from treetop.apps.serve.settings import Settings


def test_a_folder_that_cannot_be_written_is_the_fault_of_the_service(plain_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with served({"plain": plain_folder}, Settings(port=0, threads=1, feedback=tmp_path / "file")) as service:
        answer = service.post("/v1/feedback", {"text": "a secret"})
        assert answer.status == 500
        assert "log of the service" in answer.problem
        assert service.suggest("topic1").status == 200
