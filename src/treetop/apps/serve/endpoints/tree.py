"""`GET /v1/tree`: walk through the label tree."""

from __future__ import annotations

from treetop.apps.serve.browsing import TreeBrowser
from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import Tree, TreeQuery

__all__ = ["ENDPOINT", "tree"]


async def tree(call: Call, asked: TreeQuery) -> Tree:
    """The children of a node with example labels; at the end of the tree, labels."""
    browser = TreeBrowser(call.service.shelf[asked.model])
    return browser.children(asked.node, asked.limit, asked.offset)


ENDPOINT = Endpoint("GET", "/v1/tree", tree, "Children of a node of the label tree", gives=Tree, query=TreeQuery)
