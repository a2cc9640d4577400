"""A small Hugging Face Hub on this machine: the endpoints that pushing and pulling a model use, over real HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_of-the-owner"


@dataclass
class Repository:
    """Files by commit; the last commit is `main`."""

    private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def files(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        sha = list(self.commits)[-1] if revision == "main" else revision
        return (sha, self.commits[sha]) if sha in self.commits else None

    def commit(self, files: dict[str, bytes]) -> str:
        sha = hashlib.sha1(repr((len(self.commits), sorted(files.items()))).encode()).hexdigest()
        self.commits[sha] = files
        return sha


@dataclass
class Hub:
    address: str
    repositories: dict[str, Repository] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Method and path of every request."""

    def files(self, name: str) -> dict[str, bytes]:
        found = self.repositories[name].files("main")
        assert found is not None
        return found[1]


@contextmanager
def running() -> Iterator[Hub]:
    """A Hub without repositories, until the block ends."""

    hub = Hub("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        for pattern, serve in _ROUTES.items():
            if found := re.fullmatch(pattern, f"{self.command} {path}"):
                serve(self, body, *found.groups())
                return
        self._answer(404, {"error": f"not known here: {path}"})

    def _answer(self, status: int, value: Any = None, content: bytes = b"", **headers: str) -> None:
        whole = content if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(whole)))
        self.send_header("Content-Type", "application/json" if value is not None else "application/octet-stream")
        for name, told in headers.items():
            self.send_header(name.replace("_", "-"), told)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(whole)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, {"error": code}, X_Error_Code=code, X_Error_Message=code)

    @property
    def _owner(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _repository(self, name: str) -> Repository | None:
        """As the real one: what is private does not exist for others."""
        found = self.hub.repositories.get(name)
        if found is None or (found.private and not self._owner):
            self._refuse(401 if not self._owner else 404, "RepoNotFound")
            return None
        return found

    def create(self, body: bytes) -> None:
        if not self._owner:
            self._answer(401, {"error": "Invalid username or password."})
            return
        asked = json.loads(body)
        name = f"{asked.get('organization') or 'owner'}/{asked['name']}"
        known = name in self.hub.repositories
        private = bool(asked.get("private")) or asked.get("visibility") == "private"
        self.hub.repositories.setdefault(name, Repository(private))
        self._answer(409 if known else 200, {"url": f"{self.hub.address}/{name}", "id": name})

    def preupload(self, body: bytes, name: str) -> None:
        if self._repository(name) is not None:
            files = [
                {"path": one["path"], "uploadMode": "lfs" if one["path"].endswith(".safetensors") else "regular",
                 "shouldIgnore": False, "oid": None} for one in json.loads(body)["files"]
            ]  # fmt: skip
            self._answer(200, {"files": files})

    def batch(self, body: bytes, _name: str) -> None:
        objects = [
            {"oid": one["oid"], "size": one["size"], "authenticated": True,
             "actions": {"upload": {"href": f"{self.hub.address}/blobs/{one['oid']}", "header": {}}}}
            for one in json.loads(body)["objects"]
        ]  # fmt: skip
        self._answer(200, {"transfer": "basic", "objects": objects})

    def blob(self, body: bytes, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.blobs[oid] = body
        self._answer(200, content=b"ok")

    def commit(self, body: bytes, name: str) -> None:
        repository = self._repository(name)
        if repository is None:
            return
        last = repository.files("main") if repository.commits else None
        files = {} if last is None else dict(last[1])
        for line in body.splitlines():
            asked = json.loads(line)
            key, value = asked["key"], asked["value"]
            if key == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif key == "lfsFile":
                files[value["path"]] = self.hub.blobs[value["oid"]]
            elif key == "deletedFile":
                files.pop(value["path"])
        sha = repository.commit(files)
        url = f"{self.hub.address}/{name}/commit/{sha}"
        self._answer(200, {"success": True, "commitOid": sha, "commitUrl": url, "hookOutput": ""})

    def info(self, _body: bytes, name: str, revision: str | None = None) -> None:
        repository = self._repository(name)
        if repository is None:
            return
        if not repository.commits and revision is None:
            self._answer(200, {"id": name, "sha": "0" * 40, "private": repository.private, "siblings": []})
            return
        found = repository.files(revision or "main")
        if found is None:
            self._refuse(404, "RevisionNotFound")
            return
        siblings = [{"rfilename": path} for path in found[1]]
        self._answer(200, {"id": name, "sha": found[0], "private": repository.private, "siblings": siblings})

    def tree(self, _body: bytes, name: str, revision: str) -> None:
        repository = self._repository(name)
        if repository is None:
            return
        found = repository.files(revision) if repository.commits else ("", {})
        if found is None:
            self._refuse(404, "RevisionNotFound")
            return
        self._answer(200, [
            {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
            for path, content in found[1].items()
        ])  # fmt: skip

    def resolve(self, _body: bytes, name: str, revision: str, path: str) -> None:
        repository = self._repository(name)
        if repository is None:
            return
        found = repository.files(revision)
        if found is None:
            self._refuse(404, "RevisionNotFound")
        elif path not in found[1]:
            self._answer(404, {"error": path}, X_Error_Code="EntryNotFound", X_Repo_Commit=found[0])
        else:
            content = found[1][path]
            tag = f'"{hashlib.sha256(content).hexdigest()}"'
            self._answer(200, content=content, X_Repo_Commit=found[0], ETag=tag, X_Linked_Size=str(len(content)))


_NAME = r"([\w.-]+/[\w.-]+)"
_ROUTES: dict[str, Callable[..., None]] = {
    r"POST /api/repos/create": _Handler.create,
    r"POST /api/validate-yaml": lambda self, _body: self._answer(200, {"errors": [], "warnings": []}),
    rf"POST /api/models/{_NAME}/preupload/[^/]+": _Handler.preupload,
    rf"POST /{_NAME}\.git/info/lfs/objects/batch": _Handler.batch,
    r"PUT /blobs/(\w+)": _Handler.blob,
    rf"POST /api/models/{_NAME}/commit/[^/]+": _Handler.commit,
    rf"GET /api/models/{_NAME}": _Handler.info,
    rf"GET /api/models/{_NAME}/revision/([^/]+)": _Handler.info,
    rf"GET /api/models/{_NAME}/tree/([^/]+).*": _Handler.tree,
    rf"(?:GET|HEAD) /{_NAME}/resolve/([^/]+)/(.+)": _Handler.resolve,
}
