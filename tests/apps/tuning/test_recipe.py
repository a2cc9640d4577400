"""The recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from treetop.apps.tuning import Outcome
from treetop.apps.tuning.choosing import Chosen
from treetop.apps.tuning.recipe import recipe
from treetop.methods.resolving import decide
from treetop.methods.xr_linear import XRLinearConfig
from trials import trial


def test_a_recipe_is_what_train_reads(outcome: Outcome, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    for setting in (*outcome.space.presets().values(), *outcome.space.neighbours(outcome.space.default)):
        one = replace(outcome, trials=(trial(setting, [0.0, 1.0]),))
        path.write_text(recipe(Chosen(one.space.config(setting), one, 2), "data", 0))
        assert decide(config_file=str(path)) == ("xr-linear", one.space.config(setting))


def test_its_comments_say_why(outcome: Outcome) -> None:
    chosen, default = outcome.space.presets()["thorough"], outcome.space.default
    pair = (trial(chosen, [1.0] * 8 + [0.0] * 2), trial(default, [1.0] * 4 + [0.0] * 6))
    one = replace(outcome, trials=pair, metrics=("p@1",), seconds=12.0)
    said = recipe(Chosen(one.space.config(chosen), one, 10), "articles", 7)
    assert "for articles on 10 held-out texts: 2 trainings in 12 s, seed 7." in said
    assert "# There: p@1 80.0; the default: p@1 40.0 (+40.0 ± 16.3 in the mean)." in said
    assert "# negatives: a label also learns from the texts that the search confuses with it" in said
    assert "\n[linear.solver]\n" in said


def test_without_a_search_it_says_so() -> None:
    said = recipe(Chosen(XRLinearConfig(), None, 0), "notes", 0)
    assert said == '# The default: notes has too few texts to choose settings on.\nmethod = "xr-linear"\n'
