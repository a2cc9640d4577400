"""`GET /v1/tree`: walk through the label tree."""

from __future__ import annotations

from treetop.apps.serve.browsing import TreeBrowser
from treetop.apps.serve.endpoint import Endpoint
from treetop.apps.serve.messages import Tree, TreeQuery
from treetop.apps.serve.service import Service

__all__ = ["ENDPOINT", "tree"]


async def tree(service: Service, asked: TreeQuery) -> Tree:
    """The children of a node with example labels; at the end of the tree, labels."""
    browser = TreeBrowser(service.shelf[asked.model])
    return browser.children(asked.node, asked.limit, asked.offset)


ENDPOINT = Endpoint("GET", "/v1/tree", tree, "Children of a node of the label tree", gives=Tree, takes=TreeQuery)
