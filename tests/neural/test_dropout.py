from __future__ import annotations

import numpy as np
import torch

from treetop.neural.dropout import CentredDropout


def test_around_zero_it_is_plain_dropout() -> None:
    dropout, states = CentredDropout(0.4, 8).train(), torch.randn(50, 8)
    torch.manual_seed(3)
    found = dropout(states)
    torch.manual_seed(3)
    assert torch.equal(found, torch.nn.functional.dropout(states, 0.4))
    assert torch.equal(dropout.eval()(states), states)


def test_what_all_texts_have_in_common_stays() -> None:
    rng = np.random.default_rng(0)
    states = (rng.standard_normal((64, 8)) + 100).astype(np.float32)
    dropout = CentredDropout(0.5, 8).train()
    dropout.around(states)
    torch.testing.assert_close(dropout.centre, torch.from_numpy(states.mean(0)), rtol=1e-5, atol=1e-4)
    found = dropout(torch.from_numpy(states))
    assert ((found - 100).abs() < 10).all()  # plain dropout would give 0 and 200
    assert (found == dropout.centre).float().mean() > 0.4


def test_a_solved_weight_keeps_its_margin_although_the_mean_is_large() -> None:
    """A weight along the mean costs a linear start nothing; with plain dropout its logit would be all noise."""
    rng = np.random.default_rng(1)
    states = (rng.standard_normal((256, 32)) + 30).astype(np.float32)
    weight = rng.standard_normal(32).astype(np.float32)
    margins = torch.from_numpy(states @ weight - states.mean(0) @ weight)
    noise = {}
    for centred in (False, True):
        dropout = CentredDropout(0.1, 32).train()
        if centred:
            dropout.around(states)
        torch.manual_seed(0)
        noisy = dropout(torch.from_numpy(states)) @ torch.from_numpy(weight) - float(states.mean(0) @ weight)
        noise[centred] = float((noisy - margins).square().mean())
    assert noise[True] < 0.01 * noise[False]
