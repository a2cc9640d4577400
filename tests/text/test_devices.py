from __future__ import annotations

import pytest
import torch

from treetop.errors import ConfigError
from treetop.text import devices


def test_only_numbers_elsewhere_are_waited_for() -> None:
    assert not devices.must_wait(torch.ones(1))
    assert devices.must_wait(torch.ones(1, device="meta"))


def test_devices_that_are_not_here() -> None:
    devices.check_device("cpu")
    for name in ("cuda:77", "abacus"):
        with pytest.raises(ConfigError, match=rf"device is '{name}', which torch cannot use here \(.*\); choose 'cpu'"):
            devices.check_device(name)


def test_networks_do_not_learn_where_there_are_no_sparse_products() -> None:
    devices.check_trains("cuda:1")
    with pytest.raises(ConfigError, match=r"device is 'mps', which has no sparse products, .*it can predict"):
        devices.check_trains("mps")
