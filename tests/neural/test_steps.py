"""What a training step costs an accelerator before any number is computed: operations, and questions it is waited for.

The CPU is taken for an accelerator (`must_wait`), so that the way of a GPU is the one that is counted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch.distributed as dist

import traffic
from big_heads import HEAD, LABELS, MAKERS, narrow_encoder, run_of
from counting import Counting
from together import ended, start
from treetop.neural import optimiser, scorer, shortlist
from treetop.text import encoder as encoders
from treetop.text.encoder import EncoderConfig


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> EncoderConfig:
    return narrow_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the device were not the CPU."""
    for module in (scorer, shortlist, encoders):
        monkeypatch.setattr(module, "must_wait", lambda _: True)
    monkeypatch.setattr(optimiser, "BLOCK", 0)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.usefixtures("elsewhere")
def test_a_step_asks_for_little_whatever_the_labels(name: str, encoder: EncoderConfig) -> None:
    """Before, a step waited about nine times, and RowAdamW alone took 7,348 operations at 670,091 labels."""
    counts = {}
    most = 1 if name == "x-transformer" else 2
    for labels in LABELS.values():
        run = run_of(name, encoder, labels)
        run.take_step()  # after which optimisers have their moments
        with Counting() as count:
            run.take_step()
        counts[labels] = count.operations
        assert sum(count.waits.values()) <= most, dict(count.waits)
    assert len(set(counts.values())) == 1
    assert counts[LABELS["amazon-3m"]] < 1_500


@pytest.mark.skipif(not dist.is_available(), reason="needs torch.distributed")
@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_divided_heads_exchange_numbers_of_nodes_instead_of_rows(processes: int, tmp_path: Path) -> None:
    """A row of a label has 400 numbers in LightXML, 768 in CascadeXML; both touch some thousands for every text."""
    for code, said in ended(start(processes, tmp_path / "out", "lightxml,cascadexml", str(traffic.__file__))):
        assert code == 0, said
    found = json.loads((tmp_path / "out-1.json").read_text())
    for name, bias, width in (("lightxml", 0, 400), ("cascadexml", 12, 768)):
        for data, labels in LABELS.items():
            whole, divided = (found[f"{name} {data} {heads}"] for heads in ("whole", "divided"))
            rows = whole["broadcast"] / (8 + 4 * HEAD + bias)  # each with its number; those of the others
            of_nodes = divided["broadcast"] + divided["all_reduce"] - whole["all_reduce"]
            assert of_nodes < rows * (8 + 4 * width + bias) / 40
            assert divided["own"] >= labels * HEAD * 4 / processes
            assert divided["own"] < 1.4 * labels * (HEAD + 1) * 4 / processes
