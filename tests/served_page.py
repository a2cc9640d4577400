"""`treetop serve` as a process of its own, for the browser tests of its page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser_watch import Watched

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass
class PageService:
    """A service that runs, and where it keeps feedback."""

    process: subprocess.Popen[str]
    url: str
    feedback: Path

    def kept(self) -> list[dict[str, Any]]:
        """All feedback, in the order in which it came."""
        lines = [line for path in sorted(self.feedback.rglob("*.jsonl")) for line in path.read_text().splitlines()]
        return [json.loads(line) for line in lines]


@contextmanager
def page_service(feedback: Path, *arguments: str) -> Iterator[PageService]:
    """Start it with the models and options given, at a free port unless they name one."""
    port = [] if "--port" in arguments else ["--port", "0"]
    command = [sys.executable, "-m", "treetop", "serve", *port, "--feedback", str(feedback), *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield PageService(process, _address(process), feedback)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    """Where it answers, which it says when it does."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := ADDRESS.search(line):
            return found[0]
    raise AssertionError("".join(said))


TEXT = "topic0 topic0 word0x1x0 word0x1x1 word0x2x2 noise7"
"""Of label 0-1 and label 0-2."""


def open_page(watched: Watched, url: str) -> Any:
    """The page in a tab, once it knows the models."""
    watched.page.set_default_timeout(30_000)
    watched.page.goto(url)
    watched.page.locator("#model option").first.wait_for(state="attached")
    return watched.page


def write(page: Any, text: str = TEXT) -> Any:
    """Write a text and wait for its suggestions."""
    page.fill("#text", text)
    page.locator(".suggestion").first.wait_for()
    return page.locator(".suggestion")


def titles(page: Any) -> list[str]:
    """What is suggested."""
    return [str(title) for title in page.locator(".suggestion:not(.own) .title").all_inner_texts()]
