"""The files under deploy/, checked with the tools that read them, as far as these are here."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from serving import Asker, Program, until
from treetop.apps.serve.settings import Settings
from treetop.data import Dataset
from treetop.methods.xr_linear import XRLinear

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture(scope="module")
def folder(toy_train: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("deployed") / "subjects"
    XRLinear().fit(toy_train).save(path)
    return path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def nginx(service: Program, home: Path) -> Iterator[Asker]:
    """The example as it is, with other addresses, in front of a service."""
    port, home = free_port(), home.resolve()
    site = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:8000", service.url.removeprefix("http://"))
    (home / "site.conf").write_text(site.replace("listen 80;", f"listen 127.0.0.1:{port};"))
    places = "".join(
        f"{what}_temp_path {home}/{what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    http = f"access_log off;\n{places}include {home}/site.conf;"
    (home / "nginx.conf").write_text(f"pid {home}/pid;\ndaemon off;\nevents {{}}\nhttp {{\n{http}\n}}\n")
    command = ["nginx", "-p", str(home), "-e", str(home / "error.log"), "-c", str(home / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        front = Asker(f"http://127.0.0.1:{port}")
        until(lambda: process.poll() is not None or _healthy(front))
        yield front
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_behind_nginx(folder: Path, tmp_path: Path) -> None:
    with Program(folder, cwd=tmp_path) as service, nginx(service, tmp_path) as front:
        assert front.get("/health").status == 200
        assert front.suggest("topic1").json["model"] == "subjects"
        assert front.get("/").status == 200
        assert front.get("/metrics").status == 200
        assert front.raw("POST", "/v1/suggest", b"x" * 3_000_000).status == 413


def test_limits_agree() -> None:
    """nginx lets through what the service takes, and waits longer than the service."""
    said = (DEPLOY / "nginx.conf").read_text()
    assert re.search(r"client_max_body_size 2m", said)
    assert Settings().body_limit <= 2 << 20
    assert int(re.search(r"proxy_read_timeout (\d+)s", said)[1]) > Settings().deadline  # type: ignore[index]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_one(tmp_path: Path) -> None:
    unit = tmp_path / "treetop.service"
    unit.write_text((DEPLOY / "treetop.service").read_text().replace("/opt/treetop/bin/treetop", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert "treetop.service" not in done.stderr, done.stderr


def manifests() -> list[dict[str, object]]:
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def test_the_manifest_fits_the_image() -> None:
    deployment, service, claim = manifests()
    assert [one["kind"] for one in (deployment, service, claim)] == ["Deployment", "Service", "PersistentVolumeClaim"]
    pod = deployment["spec"]["template"]["spec"]  # type: ignore[index]
    (container,) = pod["containers"]
    docker = (DEPLOY / "Dockerfile").read_text()
    assert f"--uid {pod['securityContext']['runAsUser']} " in docker
    assert f"EXPOSE {container['ports'][0]['containerPort']}" in docker
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert "/feedback" in mounts
    assert container["args"][0].startswith("/models/")
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert all(container[probe]["httpGet"]["path"] == "/health" for probe in ("startupProbe", "readinessProbe"))
    assert pod["terminationGracePeriodSeconds"] > Settings().deadline + 5


def steps(stage: int) -> list[list[str]]:
    """The instructions of a stage of the Dockerfile: the word and the rest."""
    stages = re.split(r"^FROM ", (DEPLOY / "Dockerfile").read_text(), flags=re.M)[1:]
    lines = re.sub(r"\\\n\s*", " ", stages[stage]).splitlines()[1:]
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


def test_the_image_is_not_root_and_serves_every_address() -> None:
    found = dict(steps(1))
    assert found["USER"] == "treetop"
    assert '"--host", "0.0.0.0"' in found["ENTRYPOINT"]
    assert "/health" in found["HEALTHCHECK"]


@pytest.mark.slow
def test_the_steps_of_the_dockerfile_in_a_clean_folder(folder: Path, tmp_path: Path) -> None:
    """What the image is built by, without the image: a fresh virtual environment, only the files that are copied."""
    source, home = tmp_path / "src", tmp_path / "opt"
    source.mkdir()
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    for name in kept:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    places = {"/src": str(source), "/opt/treetop": str(home)}
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for word, what in steps(0):
        if word == "RUN" and not what.startswith("apt-get"):
            command = what.replace("python -m venv", f"{sys.executable} -m venv")
            for inside, here in places.items():
                command = command.replace(inside, here)
            subprocess.run(command, shell=True, check=True, env=clean | {"EXTRAS": "serve"}, cwd=tmp_path)
    absent = subprocess.run([home / "bin" / "python", "-c", "import torch"], capture_output=True, check=False)
    assert absent.returncode != 0, "torch is not needed to serve a linear model"
    port = free_port()
    entry = [part.strip('"') for part in dict(steps(1))["ENTRYPOINT"].strip("[]").split(", ")]
    command_ = [str(home / "bin" / entry[0]), *entry[1:], str(folder), "--port", str(port)]
    with subprocess.Popen(
        [part.replace("/feedback", str(tmp_path / "feedback")) for part in command_], env=clean
    ) as run:
        try:
            asker = Asker(f"http://127.0.0.1:{port}")
            until(lambda: _healthy(asker))
            assert asker.suggest("topic1").status == 200
            assert asker.post("/v1/feedback", {"text": "a text"}).status == 201
        finally:
            run.terminate()


def _healthy(asker: Asker) -> bool:
    try:
        return asker.get("/health").status == 200
    except OSError:
        return False
