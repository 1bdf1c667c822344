"""Who owns whom, and how old things are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reflet.api.core.workloads import Deployment, ReplicaSet
from reflet.insight.why.cluster_state import ClusterState, StateView
from reflet.insight.why.reasons import ObjectName
from tests.unit.insight.why.scenes import NOW, owned, pod, warning, workload

WEB = workload(Deployment, "web")
SET = workload(ReplicaSet, "web-1", meta=owned("Deployment", "web"))
POD = pod(of=owned("ReplicaSet", "web-1"))


def root_of(item: Any, **more: Any) -> str:
    view = StateView(ClusterState(**more))
    return str(view.root_of(item.kind, item.metadata))


def test_the_topmost_owner_is_the_root() -> None:
    assert root_of(POD, workloads=[WEB, SET]) == "deploy/web"


def test_an_owner_that_is_not_in_hand_is_one_too() -> None:
    assert root_of(POD, workloads=[SET]) == "deploy/web"
    assert root_of(POD) == "rs/web-1"
    assert root_of(pod()) == "pod/web-1"


def test_a_target_is_where_the_way_up_ends() -> None:
    target = ObjectName(kind="ReplicaSet", namespace="shop", name="web-1")

    assert root_of(POD, workloads=[WEB, SET], targets=frozenset({target})) == "rs/web-1"


def test_owners_in_a_circle_end_somewhere() -> None:
    one = workload(ReplicaSet, "one", meta=owned("ReplicaSet", "two"))
    two = workload(ReplicaSet, "two", meta=owned("ReplicaSet", "one"))

    assert root_of(one, workloads=[one, two]) in {"rs/one", "rs/two"}


def test_an_owner_that_does_not_look_after_it_is_none() -> None:
    reference = {"kind": "Node", "name": "node-1", "uid": "n"}

    assert root_of(pod(meta={"ownerReferences": [reference]})) == "pod/web-1"


def test_what_a_workload_has_made() -> None:
    view = StateView(ClusterState(workloads=[WEB, SET]))

    assert [each.metadata.name for each in view.owned_by(WEB)] == ["web-1"]
    assert view.owned_by(SET) == ()


def test_events_are_found_by_kind_and_name() -> None:
    event = warning("FailedCreate", about="web-1", kind="ReplicaSet")
    view = StateView(ClusterState(events=[event]))

    assert [*view.events_of("ReplicaSet", SET.metadata)] == [event]
    assert [*view.events_of("Deployment", SET.metadata)] == []


@pytest.mark.parametrize(("now", "older"), [(NOW, True), (None, False)])
def test_what_has_no_time_has_no_age(now: Any, older: bool) -> None:
    view = StateView(ClusterState(now=now))

    assert view.is_older(NOW - timedelta(minutes=2), timedelta(minutes=1)) is older
    assert not view.is_older(NOW - timedelta(seconds=30), timedelta(minutes=1))
    assert not view.is_older(None, timedelta(0))
