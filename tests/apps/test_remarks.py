from __future__ import annotations

import logging

import pytest

from treetop.apps.options import Running
from treetop.apps.remarks import said_plainly

LOG = logging.getLogger("treetop")


def test_a_warning_is_one_plain_line_whatever_libraries_do(capsys: pytest.CaptureFixture[str]) -> None:
    """Some give the root of all logs a handler, which would say it again behind its level and name."""
    handler = logging.StreamHandler()
    logging.getLogger().addHandler(handler)
    try:
        with said_plainly():
            LOG.warning("an engine cannot %s", "read")
            LOG.info("and something else")
    finally:
        logging.getLogger().removeHandler(handler)
    assert capsys.readouterr().err == "an engine cannot read\n"


def test_a_quiet_command_says_none(capsys: pytest.CaptureFixture[str]) -> None:
    with said_plainly():
        Running(quiet=True).runtime()
        LOG.warning("an engine cannot read")
    assert capsys.readouterr().err == ""
    assert (LOG.level, LOG.propagate, LOG.handlers) == (logging.NOTSET, True, [])
