from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

from toy_training import WORDS, ToyNetwork, toy_examples

from tiny_encoders import make_encoder
from treetop.neural.examples import Batch
from treetop.neural.feed import Feed, Shares


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> ToyNetwork:
    return ToyNetwork(make_encoder(tmp_path_factory.mktemp("encoder"), WORDS), dropout=0.0)


def test_the_next_step_is_made_while_this_one_is_taken(network: ToyNetwork) -> None:
    examples, made = toy_examples(network), []

    def make(step: int) -> Shares:
        made.append((step, threading.current_thread().name.startswith("treetop-feed")))
        return [(examples.batch(np.array([step, step + 1])), 1.0)]

    with Feed(make, "cpu", ahead=True) as feed:
        batches = [feed.step(number)[0][0] for number in (3, 4, 5)]
    assert [batch.rows.tolist() for batch in batches] == [[3, 4], [4, 5], [5, 6]]
    assert made[0] == (3, False)
    assert all(elsewhere for _, elsewhere in made[1:])
    assert [step for step, _ in made][:4] == [3, 4, 5, 6][: len(made)]


def test_what_was_sent_ahead_is_read_as_what_was_not(network: ToyNetwork) -> None:
    batch = toy_examples(network).batch(np.arange(5))
    sent: Batch = batch.pinned().to("cpu")
    assert sent.tokens.sent is not None
    network.eval()
    with torch.no_grad():
        expected, found = network.loss(batch), network.loss(sent)
        sent.tokens.sent["ids"].fill_(0)  # proves that these are what is read
        other = network.loss(sent)
    assert torch.equal(expected, found)
    assert not torch.equal(expected, other)


def test_an_error_in_the_making_is_one_of_the_step(network: ToyNetwork) -> None:
    def make(step: int) -> Shares:
        raise ValueError(f"step {step}")

    with Feed(make, "cpu", ahead=True) as feed, pytest.raises(ValueError, match="step 7"):
        feed.step(7)
