"""Configuration is strict: unknown names, wrong types and impossible assignments are errors that help."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from treetop.config import adjust, difference, from_dict, merge, override, read_toml, settle, to_dict, unfold
from treetop.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    max_leaf: int = 100
    kind: Literal["balanced", "shallow"] = "balanced"

    def __post_init__(self) -> None:
        if self.max_leaf < 1:
            raise ConfigError(f"max_leaf is {self.max_leaf}; give a positive number")


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    rate: float = 0.1
    steps: int = 3
    shuffle: bool = True
    name: str = "plain"
    limit: int | None = None
    share: int | float = 1
    range: tuple[int, int] = (1, 2)
    beams: tuple[int, ...] = ()
    words: str | tuple[str, ...] | None = None
    tree: Tree = field(default_factory=Tree)
    second: Tree | None = None


FULL = Config(
    rate=1e-3, limit=7, share=0.5, range=(2, 5), beams=(5, 10), words=("a", "b"), tree=Tree(max_leaf=3), second=Tree()
)  # fmt: skip


@pytest.mark.parametrize("config", [Config(), FULL, Config(words="english", share=2)])
def test_a_dictionary_and_json_bring_it_back(config: Config) -> None:
    assert from_dict(Config, to_dict(config)) == config
    assert from_dict(Config, json.loads(json.dumps(to_dict(config)))) == config


def test_what_is_not_named_keeps_its_default() -> None:
    assert from_dict(Config, {"tree": {"max_leaf": 5}}) == Config(tree=Tree(max_leaf=5))


def test_a_union_keeps_the_type_that_was_given() -> None:
    assert isinstance(from_dict(Config, {"share": 1}).share, int)
    assert isinstance(from_dict(Config, {"share": 1.0}).share, float)


def test_whole_numbers_serve_as_fractions() -> None:
    rate = from_dict(Config, {"rate": 1}).rate
    assert isinstance(rate, float)
    assert rate == 1.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"stepps": 1}, "unknown option 'stepps'; did you mean 'steps'"),
        ({"tree": {"maxleaf": 1}}, "unknown option 'tree.maxleaf'; did you mean 'max_leaf'"),
        ({"second": {"knid": 1}}, "unknown option 'second.knid'; did you mean 'kind'"),
        ({"zzz": 1}, "known options: rate, steps"),
        ({"max_leaf": 1}, "unknown option 'max_leaf'; did you mean 'tree.max_leaf'?"),
    ],
)
def test_an_unknown_name_offers_the_nearest(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(Config, values)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"steps": 1.0}, "'steps' is 1.0; expected int"),
        ({"steps": "3"}, "'steps' is '3'; expected int"),
        ({"steps": True}, "'steps' is True; expected int"),
        ({"steps": None}, "'steps' is None"),
        ({"rate": "fast"}, "'rate' is 'fast'; expected float"),
        ({"rate": False}, "'rate' is False; expected float"),
        ({"shuffle": 1}, "'shuffle' is 1; expected bool"),
        ({"shuffle": "yes"}, "'shuffle' is 'yes'"),
        ({"name": 3}, "'name' is 3; expected str"),
        ({"limit": "many"}, "'limit' is 'many'"),
        ({"share": "half"}, "'share' is 'half'"),
        ({"range": [1, 2, 3]}, "'range' has 3 values; expected 2"),
        ({"range": [1, "2"]}, "'range[1]' is '2'; expected int"),
        ({"range": 5}, "'range' is 5"),
        ({"beams": [1, 2.5]}, "'beams[1]' is 2.5; expected int"),
        ({"words": [1]}, "'words'"),
        ({"tree": 5}, "'tree' is 5; expected Tree"),
        ({"tree": {"kind": "tall"}}, "'tree.kind' is 'tall'; choose one of 'balanced', 'shallow'"),
        ({"second": {"max_leaf": "x"}}, "'second.max_leaf' is 'x'; expected int"),
        ({"tree": {"max_leaf": 0}}, "max_leaf is 0; give a positive number"),
    ],
)
def test_a_wrong_type_is_named_with_place_and_value(values: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(Config, values)
    assert place in str(caught.value)


def test_merging_goes_table_by_table_and_leaves_its_arguments_alone() -> None:
    base, update = {"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 5, "z": {"w": 1}}, "c": 4}
    assert merge(base, update) == {"a": {"x": 1, "y": 5, "z": {"w": 1}}, "b": 3, "c": 4}
    assert merge(base, {"a": 7})["a"] == 7
    assert base == {"a": {"x": 1, "y": 2}, "b": 3}
    assert update == {"a": {"y": 5, "z": {"w": 1}}, "c": 4}


@pytest.mark.parametrize(
    ("assignments", "expected"),
    [
        (["steps=5"], Config(steps=5)),
        ([" tree.max_leaf = 64 "], Config(tree=Tree(max_leaf=64))),
        (["rate=1e-4", "rate=0.5"], Config(rate=0.5)),
        (["shuffle=false"], Config(shuffle=False)),
        (["shuffle=False"], Config(shuffle=False)),
        (["name=a=b"], Config(name="a=b")),
        (["name="], Config(name="")),
        (['name="7"'], Config(name="7")),
        (["range=[3,4]", "beams=[1,2,3]"], Config(range=(3, 4), beams=(1, 2, 3))),
        (["limit=3"], Config(limit=3)),
        (["limit=none"], Config()),
        (["words=english"], Config(words="english")),
        (['words=["x","y"]'], Config(words=("x", "y"))),
        (["second.max_leaf=2"], Config(second=Tree(max_leaf=2))),
        (["tree.max_leaf=2", "tree.kind=shallow"], Config(tree=Tree(max_leaf=2, kind="shallow"))),
        ([], Config()),
    ],
)
def test_dotted_assignments_change_single_values(assignments: list[str], expected: Config) -> None:
    assert override(Config(), assignments) == expected


def test_an_assignment_leaves_the_other_values() -> None:
    changed = override(FULL, ["tree.kind=shallow"])
    assert changed.tree == Tree(max_leaf=3, kind="shallow")
    assert changed.beams == FULL.beams
    assert FULL.tree.kind == "balanced"


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("steps", "not an assignment"),
        ("=5", "not an assignment"),
        ("stpes=5", "did you mean 'steps'"),
        ("tree.max_laef=5", "did you mean 'max_leaf'"),
        ("steps.more=5", "'steps' is {'more': 5}"),
        ("tree=5", "'tree' is 5"),
        ("steps=many", "'steps' is 'many'"),
    ],
)
def test_an_impossible_assignment_is_named(assignment: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        override(Config(), [assignment])
    assert message in str(caught.value)


def test_a_value_and_something_inside_it_contradict() -> None:
    with pytest.raises(ConfigError, match="given a value before"):
        override(Config(), ["tree=5", "tree.max_leaf=3"])


def test_toml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('steps = 4\nname = "naïve"\n[tree]\nmax_leaf = 9\n', encoding="utf-8")
    assert from_dict(Config, read_toml(path)) == Config(steps=4, name="naïve", tree=Tree(max_leaf=9))


@pytest.mark.parametrize("content", [b"steps = ", b"[tree\n", b'name = "\xff"\n', b"\x00"])
def test_a_file_that_is_no_toml_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"recipe\.toml: not a TOML file"):
        read_toml(tmp_path / "recipe.toml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: there is no such"):
        read_toml(tmp_path / "absent.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(tmp_path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Averaging:
    average: Literal["none", "swa"] = "swa"
    share: float | None = 0.5


def test_none_can_be_a_choice_of_its_own() -> None:
    assert override(Averaging(), ["average=none", "share=none"]) == Averaging(average="none", share=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """Its default for a part is not the part's own."""

    tree: Tree = field(default_factory=lambda: Tree(kind="shallow"))
    beams: tuple[int, ...] = ()
    rate: float = 0.1

    def __post_init__(self) -> None:
        settle(self)


def test_a_table_keeps_the_defaults_of_the_field() -> None:
    wanted = Settled(tree=Tree(max_leaf=5, kind="shallow"))
    assert from_dict(Settled, {"tree": {"max_leaf": 5}}) == wanted
    assert adjust(Settled(), {"tree": {"max_leaf": 5}}) == wanted
    assert Settled(tree={"max_leaf": 5}) == wanted  # type: ignore[arg-type]


def test_what_is_given_ready_is_kept_as_it_is() -> None:
    tree, beams = Tree(max_leaf=3), (2, 3)
    config = adjust(Settled(), {"tree": tree, "beams": beams})
    assert config.tree is tree
    assert config.beams is beams


def test_a_settled_configuration_is_strict_and_converts() -> None:
    made = Settled(beams=[1, 2], rate=1)  # type: ignore[arg-type]
    assert (made.beams, type(made.rate)) == ((1, 2), float)
    with pytest.raises(ConfigError, match="'rate' is 'fast'; expected float"):
        Settled(rate="fast")  # type: ignore[arg-type]


def test_differences_are_tables() -> None:
    assert difference(Config(), Config()) == {}
    changed = Config(steps=4, tree=Tree(max_leaf=3), second=Tree())
    assert difference(changed, Config()) == {"steps": 4, "tree": {"max_leaf": 3}, "second": Tree()}
    assert adjust(Config(), difference(changed, Config())) == changed


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    steps: int = 3
    told: object = field(default_factory=object, compare=False)


def test_what_does_not_count_when_compared_is_no_difference() -> None:
    assert difference(Told(steps=4), Told()) == {"steps": 4}


def test_long_names_are_tables() -> None:
    assert unfold({"a": 1, "b__c": 2, "b__d__e": 3}) == {"a": 1, "b": {"c": 2, "d": {"e": 3}}}
    assert unfold({"b__c": 2, "b": {"c": 1, "d": 4}}) == {"b": {"c": 2, "d": 4}}
    assert unfold({"tree": Tree(max_leaf=3), "tree__kind": "shallow"}) == {"tree": Tree(max_leaf=3, kind="shallow")}
    with pytest.raises(ConfigError, match="'b__c' sets something inside 'b', which is 1"):
        unfold({"b": 1, "b__c": 2})


def test_one_assignment_needs_no_list() -> None:
    assert override(Config(), "steps=4") == Config(steps=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    weights: Literal["float32", "float16"] = "float32"


def test_old_names_of_settings_keep_working() -> None:
    assert from_dict(Stored, {"half": True}) == Stored(weights="float16")
    assert from_dict(Stored, {"half": False}) == Stored()
    assert override(Stored(), ["half=true"]) == Stored(weights="float16")
    assert override(Stored(weights="float16"), ["half=false"]) == Stored()
    assert merge({"ranker": to_dict(Stored())}, {"ranker": {"half": True}}) == {"ranker": {"weights": "float16"}}
    with pytest.raises(ConfigError, match="'half' is the old name of 'weights'"):
        from_dict(Stored, {"half": True, "weights": "float32"})
    with pytest.raises(ConfigError, match="'weights' is 'yes'"):
        from_dict(Stored, {"half": "yes"})
    with pytest.raises(ConfigError, match="unknown option 'half'"):
        from_dict(Tree, {"half": True})
