"""A row of a paper's table, made again: what `treetop reproduce` does."""

from __future__ import annotations

from treetop.apps.reproducing.making import Made, make
from treetop.apps.reproducing.order import Order, order
from treetop.apps.reproducing.table import show

__all__ = ["Made", "Order", "make", "order", "show"]
