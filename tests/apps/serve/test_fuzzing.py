"""Whatever is sent: schemathesis over the description, and bytes of no form at all. Nothing is a 500."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from serving import Program, Served

SEED = int(os.environ.get("TREETOP_FUZZ_SEED", "1"))
CASES = int(os.environ.get("TREETOP_FUZZ_CASES", "5"))
"""For each endpoint."""
BYTES = int(os.environ.get("TREETOP_FUZZ_BYTES", "300"))
RUN = "from schemathesis.cli import schemathesis; schemathesis()"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
WORDS = (
    b"POST ", b"GET ", b"/v1/suggest", b" HTTP/1.1\r\n", b"Content-Length: ", b"5", b"-1", b"\r\n\r\n",
    b"\x00", b"\xff",
    b"Transfer-Encoding: chunked\r\n", b"Host: a\r\n", b"Content-Type: application/json\r\n", b'{"texts":["', b'"]}',
    b"Expect: 100-continue\r\n", b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"/%ff%00/..", b"?query=%ed%a0%80",
)  # fmt: skip


def test_the_description_holds_for_whatever_fits_it_or_not(model_folder: Path, tmp_path: Path) -> None:
    with Program(model_folder, "--feedback", tmp_path / "feedback", cwd=tmp_path) as service:
        command = [sys.executable, "-c", RUN, "run", f"{service.url}/openapi.json", "--checks", CHECKS]
        options = ["--max-examples", str(CASES), "--seed", str(SEED), "--phases", "examples,coverage,fuzzing"]
        done = subprocess.run(
            [*command, *options, "--no-color"], capture_output=True, text=True, timeout=3000, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout[-5000:]
        assert service.suggest("topic1").status == 200
        service.stop()
        assert "Traceback" not in service.said


def mangled(random_: random.Random) -> bytes:
    """A request that has been changed at random, or words of requests in any order."""
    if random_.random() < 0.3:
        return b"".join(random_.choices(WORDS, k=random_.randint(1, 20)))
    body = json.dumps({"texts": ["a", "b"], "k": 3}).encode()
    head = (
        f"POST /v1/suggest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    request = bytearray(head.encode() + body)
    for _ in range(random_.randint(1, 8)):
        place = random_.randrange(len(request))
        request[place : place + random_.randint(0, 3)] = random_.randbytes(random_.randint(0, 3))
    return bytes(request)


def test_bytes_of_no_form(service: Served, caplog: pytest.LogCaptureFixture) -> None:
    place, chance = urlsplit(service.url), random.Random(SEED)
    statuses: dict[bytes, int] = {}
    for _ in range(BYTES):
        with socket.create_connection((place.hostname, place.port), timeout=60) as client:
            client.sendall(mangled(chance))
            client.shutdown(socket.SHUT_WR)
            answer = client.makefile("rb").readline()[9:12]
        statuses[answer] = statuses.get(answer, 0) + 1
    assert set(statuses) <= {b"", b"200", b"400", b"404", b"405", b"408", b"413", b"415", b"422"}, statuses
    assert service.suggest("topic1").status == 200
    assert "Traceback" not in caplog.text
