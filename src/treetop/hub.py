"""Models on the Hugging Face Hub: pushed as they were saved, pulled as they were pushed (extra `hub`).

Of a repository only the files are fetched that its manifest lists, and the page for people; every byte is compared with
the manifest before anything is loaded. A model folder holds no code, and none is run.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from treetop import manifest
from treetop.errors import ConfigError, MissingExtraError, StoreError
from treetop.store import Folder

__all__ = ["PREFIX", "fetch", "is_address", "pull", "push"]

PREFIX = "hf:"
_FORM = re.compile(r"(?!.*\.\.)\w[\w.-]*/\w[\w.-]*(@\w[\w./-]*)?", re.ASCII)


class Address(NamedTuple):
    """A repository, and a branch, tag or commit of it if one is named."""

    name: str
    revision: str | None


def is_address(path: str | PathLike[str]) -> bool:
    """Whether a model is asked for by its name on the Hub."""
    return str(path).startswith(PREFIX)


def push(model: str | PathLike[str], name: str, *, private: bool = False) -> str:
    """Put a model folder, as it is, into a repository that is made if need be; the address of what was written.

    What the folder lacks is removed from the repository, but for files that the Hub itself keeps there.
    """
    address = _parse(name)
    folder = Folder.open(model)
    verified = folder.verify()
    client = _client()
    with _as_store_errors(address):
        client.create_repo(address.name, private=private, exist_ok=True)
        done = client.upload_folder(
            repo_id=address.name,
            revision=address.revision,
            folder_path=folder.path,
            ignore_patterns=[_literal(file) for file in verified.unlisted],
            delete_patterns=["*"],
            commit_message="A model of treetop",
        )
    return str(done.commit_url)


def fetch(name: str) -> Path:
    """The folder of a model from the Hub in the Hub's cache on this machine: whole, and as it was pushed."""
    path = _snapshot(_parse(name))
    manifest.verify(path)
    return path


def pull(name: str, out: str | PathLike[str]) -> Path:
    """Write a model from the Hub to a folder, all or nothing."""
    Folder.check_target(out)
    path = _snapshot(_parse(name))
    with Folder.create(out, sealed=False) as folder:
        for file in sorted(path.rglob("*")):
            if file.is_file():
                target = folder.path / file.relative_to(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
        manifest.verify(folder.path)
    return Path(out)


def _snapshot(address: Address) -> Path:
    """The model's files in the cache, all of the same commit."""
    client = _client()
    with _as_store_errors(address):
        listing = Path(client.hf_hub_download(address.name, manifest.MANIFEST, revision=address.revision))
        wanted = [manifest.MANIFEST, *manifest.listed(listing.parent)]
        patterns = [_literal(file) for file in wanted]
        return Path(client.snapshot_download(address.name, revision=listing.parent.name, allow_patterns=patterns))


def _literal(file: str) -> str:
    """A pattern that matches this name and no other."""
    return re.sub(r"([*?[])", r"[\1]", file)


def _parse(name: str) -> Address:
    plain = name.removeprefix(PREFIX)
    if not _FORM.fullmatch(plain):
        raise ConfigError(f"{name!r} is no name on the Hub; give user/name, or user/name@revision")
    place, _, revision = plain.partition("@")
    return Address(place, revision or None)


def _client() -> Any:
    try:
        from huggingface_hub import HfApi
    except ModuleNotFoundError:
        raise MissingExtraError("huggingface_hub", "hub") from None
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT"), library_name="treetop")


@contextmanager
def _as_store_errors(address: Address) -> Iterator[None]:
    """Whatever the client raises is one line that says what to do."""
    place = PREFIX + address.name + (f"@{address.revision}" if address.revision else "")
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(_reason(error), path=place) from error


def _reason(error: Exception) -> str:
    from huggingface_hub import errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403) and not isinstance(error, errors.RepositoryNotFoundError):
        return "the Hub does not allow it; log in with an account that may (hf auth login, or the variable HF_TOKEN)"
    if isinstance(error, errors.RepositoryNotFoundError):
        return "there is no such repository, or it is private; check the name, or log in (hf auth login)"
    if isinstance(error, errors.RevisionNotFoundError):
        return "there is no such revision; give a branch, a tag or a commit"
    if isinstance(error, errors.LocalEntryNotFoundError):
        return "the Hub cannot be reached, and the model is not in the cache; check the network"
    if isinstance(error, errors.EntryNotFoundError):
        return f"is not a model of treetop: it has no {manifest.MANIFEST}"
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"the Hub cannot be used ({first})"
