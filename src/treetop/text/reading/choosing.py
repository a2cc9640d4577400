"""Which engine reads: the one that is asked for, or the fastest that is here, safe, and agrees with torch.

Whatever goes wrong with another engine (it is missing, not safe on this processor, cannot take this encoder, gives
other states, was damaged on disk) costs one line in the log, and torch reads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from treetop.errors import MissingExtraError, StoreError, needs_neural
from treetop.runtime import Runtime
from treetop.text.encoder_config import EncoderConfig
from treetop.text.reading.engines import ENGINES
from treetop.text.reading.exported import Exported
from treetop.text.reading.reader import read_states
from treetop.text.reading.safety import make_safe
from treetop.text.reading.text_reader import FolderReader, TextReader
from treetop.text.tokens import Tokens
from treetop.types import Dense

if TYPE_CHECKING:
    from treetop.text.encoder import TextEncoder
    from treetop.text.reading.torch_reader import EncoderReader

__all__ = [
    "Layers", "agreement", "check_agrees", "check_installed", "engines_for", "export_reader", "first_that_works",
    "open_reader", "will_export",
]  # fmt: skip

CALIBRATED_ON = 100
"""Texts that int8 is calibrated on; 300 took twice as long and agreed no better."""
WORTH_EXPORTING = 2_000
"""Texts from which on another engine has read all of them before torch has, the time to export included."""
COMPARED_ON = 32
"""Texts whose states are compared with torch's."""
AGREES = 0.95
"""The least mean cosine of these, without what they have in common: MiniLM has 0.997 in int8."""

Layers: TypeAlias = Callable[[int], Sequence[int]]
"""The layers that are read of an encoder that has so many; 0 is the embeddings."""

log = logging.getLogger("treetop")
T = TypeVar("T")


def check_installed(config: EncoderConfig) -> None:
    """Refuse an engine that is asked for by name and is not here: worth asking before a long training."""
    missing = ENGINES[config.reader].missing(to_export=True) if config.reader in ENGINES else None
    if missing is not None:
        raise MissingExtraError(missing, config.reader)


def open_reader(config: EncoderConfig, folder: Path, layers: Layers, runtime: Runtime) -> TextReader:
    """The encoder saved in a folder, read by what was exported beside it, if that works here, else with torch."""
    if not folder.is_dir():
        raise StoreError("the folder of the encoder is missing; this is not a complete model", path=folder)
    for engine in engines_for(config, runtime):
        if not (folder / engine).is_dir():
            continue
        try:
            _check_usable(engine, to_export=False)
            reader = FolderReader(config, folder, engine, runtime.cores, keeps=True)
            if reader.layers != tuple(layers(reader.depth)):
                raise StoreError(f"it gives layers {reader.layers} of the encoder, others are needed", path=folder)
        except Exception as error:  # whatever an engine raises, there is another way to read
            _fall_back(engine, error)
            continue
        return reader
    if engines_for(config, runtime) and not any((folder / engine).is_dir() for engine in ENGINES):
        log.info("there is no exported encoder in %s: texts are read with torch", folder)
    return _with_torch(config, folder, layers, runtime)


def export_reader(encoder: TextEncoder, layers: Layers, tokens: Tokens, runtime: Runtime) -> TextReader:
    """The encoder as it is now, exported for the engine that its configuration asks for, or read with torch."""
    from treetop.text.reading.torch_reader import EncoderReader

    own = EncoderReader(encoder, layers(encoder.layers), runtime)
    return first_that_works(encoder.config, runtime, lambda engine: _export(own, engine, tokens, runtime)) or own


def first_that_works(config: EncoderConfig, runtime: Runtime, export: Callable[[str], T]) -> T | None:
    """What the first engine that can be used here exports; None if torch is to read."""
    for engine in engines_for(config, runtime):
        try:
            _check_usable(engine, to_export=True)
            reader = export(engine)
        except MissingExtraError as error:
            log.info("%s", error)
            continue
        except Exception as error:  # an encoder that an engine cannot take fails in as many ways as there are encoders
            _fall_back(engine, error)
            continue
        log.info("texts are read with %s in %s", engine, config.reader_precision)
        return reader
    return None


def agreement(one: Dense, other: Dense) -> float:
    """The mean cosine of two readings of the same texts, without what these texts have in common."""
    common = other.mean(0) if len(other) >= 8 else np.zeros_like(other[0])
    a, b = (np.asarray(states - common, np.float64) for states in (one, other))
    least = 1e-9 + 1e-6 * float(np.square(other).sum(1).mean())  # texts that are all alike agree, whatever the rounding
    lengths = np.sqrt(np.square(a).sum(1) * np.square(b).sum(1))
    return float(((np.einsum("ij,ij->i", a, b) + least) / (lengths + least)).mean())


def will_export(config: EncoderConfig, runtime: Runtime) -> bool:
    """Whether there is an engine to export for, as far as its packages tell."""
    return any(ENGINES[engine].missing(to_export=True) is None for engine in engines_for(config, runtime))


def engines_for(config: EncoderConfig, runtime: Runtime) -> list[str]:
    """Engines other than torch to try; none on a device that torch alone can use."""
    if runtime.device != "cpu" or config.reader == "torch":
        return []
    return list(ENGINES) if config.reader == "auto" else [config.reader]


def _check_usable(engine: str, *, to_export: bool) -> None:
    missing = ENGINES[engine].missing(to_export=to_export)
    if missing is not None:
        raise MissingExtraError(missing, engine)
    if not make_safe(engine):
        raise RuntimeError("it is not safe on this processor")


def _export(own: EncoderReader, engine: str, tokens: Tokens, runtime: Runtime) -> FolderReader:
    """A temporary folder with the encoder and its export, read from there once it has shown that it agrees."""
    from treetop.text.reading.graph import Graph, exporting

    encoder, config = own.encoder, own.config
    rows = np.random.default_rng(runtime.seed).permutation(len(tokens))
    holds = TemporaryDirectory(prefix="treetop-reader-")
    folder = Path(holds.name)
    encoder.save(folder)
    (folder / engine).mkdir()
    sample = [tokens.pad(rows[i : i + 1]) for i in range(min(CALIBRATED_ON, len(rows)))]
    with exporting(encoder):
        ENGINES[engine].load().export(Graph(encoder, own.layers), sample, config.reader_precision, folder / engine)
    Exported(
        engine=engine, precision=config.reader_precision, layers=own.layers, depth=own.depth, width=own.width,
        frame=tokens.frame, limit=encoder.limit,
    ).save(folder / engine)  # fmt: skip
    reader = FolderReader(config, folder, engine, runtime.cores)
    reader.holds = holds
    some, quiet = tokens.take(np.sort(rows[-COMPARED_ON:])), Runtime()
    check_agrees(read_states(reader.reader, some, quiet), read_states(own.reader, some, quiet))
    return reader


def check_agrees(states: Dense, by_torch: Dense) -> None:
    """Refuse an engine whose states of some texts are not torch's."""
    found = agreement(states, by_torch)
    if not found >= AGREES:
        raise RuntimeError(f"its states agree with torch's to {found:.2f} only")


def _fall_back(engine: str, error: Exception) -> None:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    log.warning("%s cannot read with this encoder here (%s)", engine, first)


def _with_torch(config: EncoderConfig, folder: Path, layers: Layers, runtime: Runtime) -> TextReader:
    with needs_neural():
        from treetop.text.encoder import TextEncoder
        from treetop.text.reading.torch_reader import EncoderReader

        encoder = TextEncoder.load(config, folder).eval().to(runtime.device)
    return EncoderReader(encoder, layers(encoder.layers), runtime)
