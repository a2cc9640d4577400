"""What words add through an encoder, for accounts of models that have one.

Margins are known without torch, as in prediction; which words they come from needs torch, and a note says so without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import MissingExtraError
from treetop.explanation import BIAS, ENCODER, NO_WORDS, READING
from treetop.linear.dense_level import Affine, DenseLevel
from treetop.methods.explaining.account import Account, Node, Numbers
from treetop.runtime import Runtime
from treetop.text.occurrences import overlap, spans_of
from treetop.text.reading.text_reader import TextReader
from treetop.types import Dense, Floats

if TYPE_CHECKING:
    from torch import Tensor

    from treetop.neural.attribution import Attribution

__all__ = ["Row", "account_of_rows", "unit_times", "with_encoder"]


class Row(NamedTuple):
    """A node of a network, and what it sees of the states of a text."""

    level: DenseLevel
    node: int
    columns: NDArray[np.integer] | slice = slice(None)
    join: Affine | None = None
    """A linear map that these go through first."""

    @property
    def maps(self) -> list[Affine]:
        """What the columns go through."""
        return [map_ for map_ in (self.join, self.level.before) if map_ is not None]

    @property
    def bias(self) -> float:
        """The constant of the node."""
        return 0.0 if self.level.bias is None else float(self.level.bias[self.node])

    def margin(self, states: Dense) -> float:
        """The margin of the first of some texts."""
        seen = states[:, self.columns]
        for map_ in self.maps:
            seen = map_(seen)
        return float(seen[0] @ self.level.weight[self.node]) + self.bias


def account_of_rows(
    reader: TextReader,
    rows: Sequence[Row],
    nodes: Sequence[Node],
    shares: Numbers,
    text: str,
    runtime: Runtime,
) -> Account:
    """The account of margins that a network makes of its encoder's states."""
    states = reader.read(reader.tokenize([text], runtime=runtime), runtime)
    margins, bias = (np.array(part) for part in ([row.margin(states) for row in rows], [row.bias for row in rows]))
    constants = {BIAS: bias, ENCODER: margins - bias}
    account = Account(spans_of(text), nodes, margins, shares, {}, constants)
    return with_encoder(
        account, reader, reader.layers, lambda seen, places: _margins(seen, rows, places), text, runtime
    )


def with_encoder(
    account: Account,
    reader: TextReader,
    layers: Sequence[int],
    numbers: Callable[[Tensor, Sequence[int]], Tensor],
    text: str,
    runtime: Runtime,
) -> Account:
    """The account with what the encoder adds told word by word, for the margins that count.

    `numbers` makes (texts, margins) of states (texts, layers · width), of the margins whose places it is given, and
    without their biases.
    """
    counted = np.flatnonzero(account.shares).tolist()
    try:
        encoder = reader.text_encoder()
        from treetop.neural.attribution import attribute
    except MissingExtraError as error:
        note = f"what each word adds through the encoder cannot be told: {error}"
        return replace(account, notes=(*account.notes, note))

    def of_states(states: Tensor) -> Tensor:
        return numbers(states.transpose(0, 1).flatten(1), counted)

    return _placed(account, attribute(encoder, text, layers, of_states, runtime), counted)


def unit_times(weights: Sequence[Floats]) -> Callable[[Tensor, Sequence[int]], Tensor]:
    """What linear classifiers add for states: those of length one, times the weights of each margin."""

    def numbers(states: Tensor, margins: Sequence[int]) -> Tensor:
        import torch

        chosen = torch.from_numpy(np.stack([weights[margin] for margin in margins])).to(states)
        product: Tensor = torch.nn.functional.normalize(states, dim=1) @ chosen.T
        return product

    return numbers


def _margins(states: Tensor, rows: Sequence[Row], places: Sequence[int]) -> Tensor:
    """The margins of some rows without their biases: (texts, places)."""
    import torch

    found = []
    for row in (rows[place] for place in places):
        seen = states[:, row.columns if isinstance(row.columns, slice) else torch.from_numpy(row.columns)]
        for map_ in row.maps:
            seen = seen @ torch.tensor(map_.weight).T + torch.tensor(map_.offset)
            seen = seen.sigmoid() if map_.squash == "sigmoid" else seen
        found.append(seen @ torch.tensor(row.level.weight[row.node]))
    return torch.stack(found, 1)


def _placed(account: Account, found: Attribution, margins: Sequence[int]) -> Account:
    """The account with a source more: the encoder's tokens, in the words they belong to.

    What the reader saw otherwise than the encoder that is taken apart is told by itself.
    """
    count, width = len(account.margins), len(account.spans)
    words, masked, read, known = np.zeros((count, width)), np.zeros(count), np.zeros(count), np.ones(count)
    words[margins] = (overlap(account.spans, found.spans) @ found.tokens.T).T
    masked[margins] = found.masked
    read[margins] = account.constants[ENCODER][margins] - found.whole
    known[margins] = 0
    told = {NO_WORDS: masked, READING: read, ENCODER: account.constants[ENCODER] * known}
    return replace(account, words={**account.words, ENCODER: words}, constants={**account.constants, **told})
