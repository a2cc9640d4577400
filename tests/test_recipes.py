"""Every recipe parses, resolves and is what its folder and name say."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.methods import METHODS
from treetop.methods.resolving import decide, resolve

ROOT = Path(__file__).parents[1]
RECIPES = sorted((ROOT / "recipes").rglob("*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recipe_resolves(path: Path) -> None:
    if METHODS[path.stem].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    method, config = decide(config_file=str(path))
    assert method == path.stem
    if METHODS[method].has("encoder"):
        assert config.encoder.name == "minilm"
        untuned = config.optim.epochs == 0
        short = config.encoder.max_tokens <= 48  # all layers are tuned only where texts are short
        assert untuned or (0 if short else 1) <= config.encoder.freeze < 6
        assert untuned or 0 < (config.optim.steps or sum(config.steps)) <= 5000


@pytest.mark.parametrize("folder", ["nvd-cve-products", "tate-subjects"])
def test_the_linear_recipes_of_short_texts_are_the_preset_thorough(folder: str) -> None:
    recipe = ROOT / "recipes" / folder / "xr-linear.toml"
    assert resolve("xr-linear", config_file=str(recipe)) == resolve("xr-linear", preset_name="thorough")


def test_every_dataset_has_every_method_and_a_line_in_the_readme() -> None:
    readme = (ROOT / "recipes" / "README.md").read_text(encoding="utf-8")
    folders = {path.parent for path in RECIPES}
    assert len(folders) == 4
    methods = {path.stem for path in RECIPES}
    for folder in folders:
        alone = folder.name == "yso-swedish"  # no encoder at hand reads Swedish
        assert {path.stem for path in folder.glob("*.toml")} == ({"xr-linear"} if alone else methods)
        assert f"[{folder.name}]({folder.name})" in readme
