"""Types of requests: unknown fields, and numbers out of range."""

from __future__ import annotations

import msgspec
import pytest

from treetop.apps.serve import messages


@pytest.mark.parametrize("kind", [messages.SuggestRequest, messages.Feedback, messages.LabelQuery, messages.TreeQuery])
def test_requests_refuse_fields_that_they_do_not_know(kind: type) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"texts": [], "text": "", "surprise": 1}, kind)


@pytest.mark.parametrize("k", [0, -1, 10**9, 1.5, "3", True])
def test_k_is_a_number_of_labels(k: object) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.k"):
        msgspec.convert({"texts": [], "k": k}, messages.SuggestRequest)


def test_every_type_is_described() -> None:
    for name in messages.__all__:
        kind = getattr(messages, name)
        if isinstance(kind, type):
            assert kind.__doc__, name
