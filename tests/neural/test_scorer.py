from __future__ import annotations

import numpy as np
import pytest
import torch

from treetop.errors import ConfigError
from treetop.neural import scorer as scorer_module
from treetop.neural.losses import LOSSES
from treetop.neural.scorer import NodeScorer

SHORTLIST = torch.tensor([[3, 0, 7, -1], [7, -1, -1, -1], [-1, -1, -1, -1], [1, 2, 3, 9]])


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"bottleneck": 5}, {"bottleneck": 5, "squash": "sigmoid"}])
def test_a_shortlist_scores_as_among_all_nodes(options: dict[str, object]) -> None:
    torch.manual_seed(0)
    scorer, states = NodeScorer(11, 6, **options), torch.randn(4, 6)  # type: ignore[arg-type]
    everything, some = scorer(states), scorer(states, SHORTLIST)
    assert everything.shape == (4, 11)
    assert (some[SHORTLIST < 0] == -torch.inf).all()
    real = SHORTLIST >= 0
    torch.testing.assert_close(some[real], everything.gather(1, SHORTLIST.clamp(min=0))[real])


def test_gradients_are_those_of_the_dense_product_and_cover_only_the_rows_that_occur() -> None:
    torch.manual_seed(0)
    scorer, upstream = NodeScorer(11, 6, bottleneck=4), torch.randn(4, 4)
    upstream[SHORTLIST < 0] = 0
    gradients = []
    for dense in (True, False):
        scorer.zero_grad()
        states = torch.randn(4, 6, generator=torch.Generator().manual_seed(1), requires_grad=True)
        logits = scorer(states).gather(1, SHORTLIST.clamp(min=0)) if dense else scorer(states, SHORTLIST)
        logits.backward(upstream)
        gradients.append([states.grad, *(p.grad for p in scorer.parameters())])
    for expected, found in zip(*gradients, strict=True):
        assert found is not None
        torch.testing.assert_close(found.to_dense(), expected)
    assert scorer.weight.grad is not None
    assert scorer.weight.grad.is_sparse
    assert scorer.weight.grad._indices()[0].tolist() == [0, 1, 2, 3, 7, 9]
    assert scorer.bias is not None
    assert scorer.bias.grad is not None
    assert scorer.bias.grad.is_sparse


def test_on_an_accelerator_all_places_are_computed_and_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """To leave out empty places the host would have to wait; what they give is thrown away, node 0 included."""
    found, upstream = [], torch.randn(4, 4)
    upstream[SHORTLIST < 0] = 7.0  # whoever comes after may not know of empty places
    for elsewhere in (False, True):
        monkeypatch.setattr(scorer_module, "must_wait", lambda _, answer=elsewhere: answer)
        torch.manual_seed(0)
        scorer, states = NodeScorer(11, 6), torch.randn(4, 6, requires_grad=True)
        without_zero = torch.where(SHORTLIST == 0, 5, SHORTLIST)
        for shortlist in (SHORTLIST, without_zero):
            scorer.zero_grad()
            logits = scorer(states, shortlist)
            logits.backward(upstream)
            assert scorer.weight.grad is not None
            assert scorer.bias is not None
            assert scorer.bias.grad is not None
            gradients = (states.grad, scorer.weight.grad.to_dense(), scorer.bias.grad.to_dense())
            found.append((logits, scorer.weight.grad._indices(), *gradients))
    for expected, other in zip(found[:2], found[2:], strict=True):
        for one, same in zip(expected, other, strict=True):
            torch.testing.assert_close(one, same)


def test_gradients_of_several_batches_add_up() -> None:
    scorer, states = NodeScorer(11, 6), torch.randn(4, 6)
    scorer(states, SHORTLIST)[:, 0].nan_to_num(neginf=0).sum().backward()
    scorer(states, SHORTLIST)[:, 0].nan_to_num(neginf=0).sum().backward()
    assert scorer.weight.grad is not None
    twice = scorer.weight.grad.to_dense()
    torch.testing.assert_close(twice[3], 2 * states[0])


def test_fill_and_nothing_to_score() -> None:
    scorer = NodeScorer(3, 2)
    scorer.fill(torch.eye(3, 2), torch.tensor([0.0, 1.0, 2.0]))
    assert scorer(torch.tensor([[5.0, 7.0]])).tolist() == [[5.0, 8.0, 2.0]]
    nothing = scorer(torch.randn(2, 2), torch.empty(2, 0, dtype=torch.int64))
    assert nothing.shape == (2, 0)
    assert scorer(torch.empty(0, 2), torch.empty(0, 3, dtype=torch.int64)).shape == (0, 3)


def test_impossible_sizes() -> None:
    for nodes, width in ((0, 3), (3, 0)):
        with pytest.raises(ConfigError, match="positive"):
            NodeScorer(nodes, width)


def test_a_dense_scorer_has_no_row_parameters() -> None:
    assert NodeScorer(3, 2, by_rows=False).row_parameters() == []
    assert len(NodeScorer(3, 2).row_parameters()) == 2
    assert np.isfinite(NodeScorer(3, 2).weight.detach().numpy()).all()


@pytest.mark.parametrize("loss", ["bce", "squared_hinge"])
def test_expected_biases_are_the_best_there_are_without_a_state(loss: str) -> None:
    scorer, rate = NodeScorer(3, 2), np.array([0.5, 0.1, 0.004])
    scorer.expect(rate, loss)  # type: ignore[arg-type]
    assert scorer.bias is not None
    logits = scorer.bias.expand(1000, 3)
    hit = (torch.arange(1000)[:, None] < torch.from_numpy(rate) * 1000).float()
    (gradient,) = torch.autograd.grad(LOSSES[loss](logits, hit, divide_by="sum"), scorer.bias)
    torch.testing.assert_close(gradient, torch.zeros(3), atol=1e-5, rtol=0)


def test_nodes_that_are_never_true_have_finite_biases() -> None:
    scorer = NodeScorer(2, 2)
    scorer.expect(np.array([0.0, 1.0]))
    assert scorer.bias is not None
    assert scorer.bias[0] < -10
    assert torch.isfinite(scorer.bias).all()


def test_scores_are_exact_whatever_the_precision_of_the_states() -> None:
    """In bfloat16 logits of 5.5 and 6 have the same sigmoid: the best labels would be in the order of their numbers."""
    scorer = NodeScorer(2, 1)
    scorer.fill(torch.tensor([[5.5], [6.0]]))
    with torch.autocast("cpu", torch.bfloat16):
        for shortlist in (None, torch.tensor([[0, 1]])):
            low, high = scorer(torch.ones(1, 1), shortlist).sigmoid()[0].tolist()
            assert low < high
