"""What comes to a process from others in a step: bytes of the messages of `torch.distributed`.

`python traffic.py OUT METHOD,METHOD…` is one of several processes that take a step together, at the papers' numbers of
labels, with heads whole and divided.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from torch import Tensor

__all__ = ["Traffic", "counted"]


class Traffic:
    """Bytes by kind of message. Of a sum it is the result that counts; what makes it may move twice that."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    @property
    def total(self) -> int:
        return sum(self.of.values())

    def add(self, kind: str, *tensors: Tensor) -> None:
        self.of[kind] = self.of.get(kind, 0) + sum(t.numel() * t.element_size() for t in tensors)


@contextmanager
def counted() -> Iterator[Traffic]:
    """For the time of a block."""
    traffic, rank = Traffic(), dist.get_rank()

    def spy(name: str, note: Callable[..., None]) -> None:
        send = getattr(dist, name)

        def sent(*args: Any, **kwargs: Any) -> Any:
            note(*args)
            return send(*args, **kwargs)

        patch.setattr(dist, name, sent)

    with pytest.MonkeyPatch.context() as patch:
        spy("broadcast", lambda tensor, source: traffic.add("broadcast", *([] if source == rank else [tensor])))
        spy("all_reduce", lambda tensor, *_: traffic.add("all_reduce", tensor))
        spy("all_gather", lambda parts, _: traffic.add("all_gather", *(p for r, p in enumerate(parts) if r != rank)))
        yield traffic


def main() -> None:
    """What each kind of message brings, and how many bytes of divided heads the process has."""
    from big_heads import LABELS, narrow_encoder, run_of
    from treetop.neural.parallel import world_of
    from treetop.runtime import Runtime

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        encoder = narrow_encoder(Path(folder))
        world = world_of(Runtime(threads=1))  # beside others, transformers would write no encoder
        for name in sys.argv[2].split(","):
            for data, labels in LABELS.items():
                for heads in ("whole", "divided"):
                    run = run_of(name, encoder, labels, world, heads)
                    run.take_step()
                    with counted() as traffic:
                        run.take_step()
                    own = sum(p.nbytes for p in run.divided.parameters.values())
                    found[f"{name} {data} {heads}"] = {**traffic.of, "total": traffic.total, "own": own}
    Path(f"{sys.argv[1]}-{world.rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
