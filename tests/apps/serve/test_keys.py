"""Keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from serving import served
from treetop.apps.serve.keys import Keys
from treetop.apps.serve.settings import Settings
from treetop.errors import ConfigError

KEY = "correct-horse-battery-staple"


def test_files_that_are_none(tmp_path: Path) -> None:
    for content, said in (("", "no key"), ("# only a remark\n", "no key"), ("short\n", "less than 16")):
        (tmp_path / "keys").write_text(content)
        with pytest.raises(ConfigError, match=said):
            Keys.read(tmp_path / "keys")
    with pytest.raises(ConfigError, match="cannot be read"):
        Keys.read(tmp_path / "none")


def test_a_request_needs_one_of_the_keys(plain_folder: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"# of the tests\nanother-key-of-some-length\n{KEY}\n")
    with served({"plain": plain_folder}, Settings(port=0, threads=1, feedback=None, keys=keys)) as service:
        for headers in ({}, {"authorization": f"Bearer {KEY}x"}, {"authorization": f"Basic {KEY}"}, {"x-api-key": "é"}):
            answer = service.get("/v1/models", **{k: v.encode().decode("latin-1") for k, v in headers.items()})
            assert answer.status == 401, headers
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "Authorization" in answer.problem
        assert service.get("/v1/models", authorization=f"Bearer {KEY}").status == 200
        assert service.get("/v1/models", **{"x-api-key": KEY}).status == 200
        for path in ("/", "/health", "/docs", "/openapi.json"):
            assert service.get(path).status == 200, path
        assert service.get("/metrics").status == 401
        assert "securitySchemes" in service.get("/openapi.json").json["components"]
