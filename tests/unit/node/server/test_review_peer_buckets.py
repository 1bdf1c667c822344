from __future__ import annotations

import pytest

from reflet.node.server.review import MOST_PEERS, PeerBuckets
from reflet.testing.virtual_time import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_a_bucket_is_full_at_first_and_fills_again_with_time(clock: ManualClock) -> None:
    buckets = PeerBuckets(clock=clock, burst=3, every=2.0)
    at_once = [buckets.take("a") for _ in range(5)]
    clock.advance(2.0)
    later = [buckets.take("a") for _ in range(2)]

    assert at_once == pytest.approx([0, 0, 0, 2, 2])
    assert later == pytest.approx([0, 2])


def test_a_bucket_never_holds_more_than_at_first(clock: ManualClock) -> None:
    buckets = PeerBuckets(clock=clock, burst=2, every=1.0)
    buckets.take("a")
    clock.advance(1000.0)

    assert [buckets.take("a") > 0 for _ in range(3)] == [False, False, True]


def test_every_peer_has_its_own(clock: ManualClock) -> None:
    buckets = PeerBuckets(clock=clock, burst=1, every=1.0)

    assert [buckets.take(peer) > 0 for peer in "aab"] == [False, True, False]


def test_peers_without_end_are_not_all_remembered(clock: ManualClock) -> None:
    buckets = PeerBuckets(clock=clock, burst=1, every=1.0)
    for number in range(2 * MOST_PEERS):
        buckets.take(str(number))

    assert len(buckets) == MOST_PEERS
    assert buckets.take(str(2 * MOST_PEERS - 1)) > 0
