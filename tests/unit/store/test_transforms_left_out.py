"""What was left out is told once for each version."""

from __future__ import annotations

import pytest

from reflet.runtime.metrics import MemoryMetrics
from reflet.store.transforms import LeftOut
from tests.unit.store.config_maps import Keyless, config_map

ERROR = ValueError("no")


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_what_is_left_out_is_told_with_its_key_and_the_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    left_out = LeftOut("index users", "of the index", resource="configmaps")

    left_out.add("shop/a", config_map("a", "1"), ERROR)
    left_out.tell()

    assert told(caplog) == ["configmaps: shop/a left out of the index: ValueError('no')"]


def test_each_version_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    left_out = LeftOut("index users", "of the index")

    for version in ("1", "1", "2", "2"):
        left_out.add("shop/a", config_map("a", version), ERROR)
        left_out.tell()

    assert len(told(caplog)) == 2


def test_what_was_told_is_not_told_again_when_all_is_replaced(
    caplog: pytest.LogCaptureFixture,
) -> None:
    left_out = LeftOut("index users", "of the index")
    left_out.add("shop/a", config_map("a", "1"), ERROR)
    left_out.tell()

    fresh = left_out.anew()
    fresh.add("shop/a", config_map("a", "1"), ERROR)
    fresh.add("shop/b", config_map("b", "1"), ERROR)
    fresh.tell()

    assert [line.split()[1] for line in told(caplog)] == ["shop/a", "shop/b"]


def test_much_at_once_is_one_line_and_counts_in_full(caplog: pytest.LogCaptureFixture) -> None:
    metrics = MemoryMetrics()
    left_out = LeftOut("store", "of the store", resource="configmaps", metrics=metrics)

    for number in range(7):
        left_out.add(str(number), config_map(str(number), "1"), ERROR)
    left_out.tell()

    assert told(caplog) == [
        "configmaps: 0, 1, 2, 3, 4 and 2 more left out of the store: ValueError('no')"
    ]
    labels = {"resource": "configmaps", "place": "store"}
    assert metrics.counted("reflet_store_left_out_total", **labels) == 7


def test_it_knows_what_is_left_out_until_that_is_gone() -> None:
    left_out = LeftOut("store", "of the store")
    left_out.add("shop/a", config_map("a", "1"), ERROR)
    left_out.add("keyless", Keyless(), ERROR)

    left_out.discard("shop/a")
    left_out.discard("shop/b")

    assert left_out.versions == {"keyless": ""}
