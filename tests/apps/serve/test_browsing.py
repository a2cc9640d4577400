"""The label tree, node by node."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.serve.browsing import TreeBrowser
from treetop.apps.serve.messages import Node
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError
from treetop.runtime import Runtime


@pytest.fixture(scope="module")
def browser(model_folder: Path) -> TreeBrowser:
    return TreeBrowser(ServedModel.load("toy", model_folder, Runtime(threads=1)))


def leaves(browser: TreeBrowser, node: Node) -> list[str]:
    if node.node is None:
        return [node.examples[0].label]
    below = browser.children(node.node, 1000, 0)
    assert len(below.children) == below.total
    found = [leaf for child in below.children for leaf in leaves(browser, child)]
    assert len(found) == node.labels
    assert {example.label for example in node.examples} <= set(found)
    return found


def test_every_label_is_somewhere_below_the_root(browser: TreeBrowser) -> None:
    root = browser.children(None, 1000, 0)
    found = [leaf for node in root.children for leaf in leaves(browser, node)]
    assert sorted(found) == sorted(browser.model.model.space.names)


def test_examples_are_the_most_frequent(browser: TreeBrowser) -> None:
    frequencies = [example.frequency for example in browser.children(None, 1, 0).children[0].examples]
    assert frequencies == sorted(frequencies, reverse=True)


def test_pages(browser: TreeBrowser) -> None:
    everything = browser.children(None, 1000, 0)
    assert [browser.children(None, 1, at).children[0] for at in range(everything.total)] == everything.children


@pytest.mark.parametrize("node", ["", "x", "0", "0-", "-1-0", "0-999", "99-0", "0-²", "9" * 5000 + "-1"])
def test_nodes_that_are_not(browser: TreeBrowser, node: str) -> None:
    with pytest.raises(ProblemError, match="no such node"):
        browser.children(node, 10, 0)


def test_the_way_back(browser: TreeBrowser) -> None:
    first = browser.children(None, 1, 0).children[0].node
    assert browser.children(first, 1, 0).parent is None
    assert first in [f"0-{n}" for n in range(browser.tree.widths[0])]
