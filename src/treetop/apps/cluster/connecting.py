"""Which cluster: one that runs, or several nodes that are started on this machine, to try things out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from treetop.errors import ConfigError, MissingExtraError, ServiceError
from treetop.runtime import available_cores

__all__ = ["connected"]

_STORE = 80 << 20  # Bytes of each local node's object store: nearly nothing goes through it.


@contextmanager
def connected(where: str) -> Iterator[Any]:
    """A block with a connection to a cluster: "auto", an address, or "local:N" for N nodes on this machine.

    Gives the started nodes of a local cluster, else None.
    """
    local = _count(where) if where.startswith("local") and not where.startswith("localhost") else 0
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # keeps a local cluster on the loopback device
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise MissingExtraError("ray", "ray") from None
    with ExitStack() as stack:
        nodes = stack.enter_context(_local(local)) if local else None
        try:
            ray.init(nodes.address if nodes else where, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError) as error:
            said = " ".join(str(error).split())
            raise ServiceError(
                f"there is no Ray cluster at '{where}' ({said}); start one with `ray start`", 0
            ) from None
        stack.callback(ray.shutdown)
        yield nodes


def _count(where: str) -> int:
    _, _, number = where.partition(":")
    if not number.isdecimal() or not 1 <= int(number) <= 64:
        raise ConfigError(
            f"--cluster is {where!r}; give auto, the address of a cluster, or local:3 for three nodes here"
        )
    return int(number)


@contextmanager
def _local(count: int) -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    each: dict[str, Any] = {"num_cpus": max(1, available_cores() // count), "object_store_memory": _STORE}
    cluster = Cluster(initialize_head=True, head_node_args=each | {"include_dashboard": False})
    try:
        for _ in range(count - 1):
            cluster.add_node(**each)
        yield cluster
    finally:
        cluster.shutdown()
