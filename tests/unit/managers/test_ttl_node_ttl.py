"""How long objects stay fresh, as the node's annotation says."""

from __future__ import annotations

import pytest

from reflet.api.core.nodes import Node
from reflet.api.meta import ObjectMeta
from reflet.managers.ttl import TTL_ANNOTATION, ttl_from, ttl_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("300", 300.0),
        ("0", 0.0),
        ("+15", 15.0),
        ("-1", -1.0),
        ("", None),
        ("1.5", None),
        (" 5", None),
        ("1_0", None),
        ("5\n", None),
        ("9" * 19, None),
        ("٣", None),
    ],
)
def test_the_annotation_is_a_whole_number_of_seconds(text: str, seconds: float | None) -> None:
    assert ttl_of(Node(metadata=ObjectMeta(annotations={TTL_ANNOTATION: text}))) == seconds


def test_a_node_that_is_not_there_says_nothing() -> None:
    assert ttl_from(lambda: None)() is None
