"""What a network asks of torch: operations, and questions that would have to wait for an accelerator."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "equal")
"""Operations whose result the host has to see, because a number or a shape follows from it."""


class Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts while it is entered; `waits` by operation, a row of numbers that is read at once counts once."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: Counter[str] = Counter()
        self.waits: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        self.calls[name] += 1
        by_mask = name in ("index", "index_put_") and any(
            index is not None and index.dtype == torch.bool for index in args[1]
        )
        on_host = name == "_local_scalar_dense" and args[0].dtype == torch.float64  # `owed` of RowAdamW
        fetched = name == "_to_copy" and str((kwargs or {}).get("device")) == "cpu"
        if (name in WAITING and not on_host) or by_mask or fetched:
            self.waits[name] += 1
        return func(*args, **(kwargs or {}))

    @property
    def operations(self) -> int:
        return self.calls.total()
