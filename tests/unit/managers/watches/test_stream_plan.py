"""Which streams a manager keeps open, and why."""

from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.managers.watches.stream_plan import (
    NamespaceRefusal,
    OpenStream,
    Shape,
    StreamLimits,
    StreamPlan,
    decide,
)

LIMITS = StreamLimits(namespace_from=10, namespace_until=3)


@pytest.mark.parametrize(
    ("needed", "is_open", "shape"),
    [
        (9, False, Shape.INDIVIDUAL),
        (10, False, Shape.NAMESPACE),
        (3, True, Shape.NAMESPACE),
        (2, True, Shape.INDIVIDUAL),
        (0, True, Shape.INDIVIDUAL),
    ],
)
def test_many_objects_need_one_stream_and_few_leave_it_late(
    needed: int, is_open: bool, shape: Shape
) -> None:
    assert decide(LIMITS, needed=needed, is_open=is_open, refusal=None, now=0.0).shape is shape


def test_a_refusal_counts_until_its_moment() -> None:
    refusal = NamespaceRefusal("forbidden", until=10.0)

    before = decide(LIMITS, needed=50, is_open=False, refusal=refusal, now=9.0)
    after = decide(LIMITS, needed=50, is_open=False, refusal=refusal, now=10.0)

    assert (before.shape, before.reason) == (Shape.INDIVIDUAL, "forbidden")
    assert after.shape is Shape.NAMESPACE


@pytest.mark.parametrize(("first", "until"), [(3, 4), (0, 0), (5, 0)])
def test_limits_that_contradict_each_other_are_refused(first: int, until: int) -> None:
    with pytest.raises(ConfigurationError, match="namespace_until"):
        StreamLimits(namespace_from=first, namespace_until=until)


def test_a_plan_can_be_shown() -> None:
    plan = StreamPlan((OpenStream("shop", None, "many"), OpenStream("bank", "keys", "few")))

    assert (len(plan), str(plan)) == (2, "shop: whole namespace (many)\nbank: keys (few)")
    assert str(StreamPlan()) == "no streams"
