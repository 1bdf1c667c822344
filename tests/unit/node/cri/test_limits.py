from __future__ import annotations

from typing import Any

import pytest

from reflet.cri.messages.isolation import HugepageLimit
from reflet.node.cri.limits import cpu_quota, cpu_shares, linux_resources, oom_score, qos_class
from tests.unit.node.pod_scenes import container, only, pod

GIBI = 2**30


@pytest.mark.parametrize(
    ("milli", "shares"), [(0, 2), (1, 2), (100, 102), (1000, 1024), (10**9, 262144)]
)
def test_shares_are_those_of_the_kubelet(milli: int, shares: int) -> None:
    assert cpu_shares(milli) == shares


@pytest.mark.parametrize(("milli", "quota"), [(0, 0), (1, 1000), (500, 50000), (2000, 200000)])
def test_a_quota_is_a_part_of_a_period(milli: int, quota: int) -> None:
    assert cpu_quota(milli) == quota


@pytest.mark.parametrize(
    ("resources", "kind"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
            "Guaranteed",
        ),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
            "Burstable",
        ),
    ],
)
def test_a_pod_from_a_file_has_a_class_of_service_too(resources: Any, kind: str) -> None:
    assert qos_class(pod(container(resources=resources))) == kind


def test_the_servers_class_of_service_counts() -> None:
    assert qos_class(pod(status={"qosClass": "Guaranteed"})) == "Guaranteed"


@pytest.mark.parametrize(
    ("kind", "request_", "score"),
    [
        ("Guaranteed", "1Gi", -997),
        ("BestEffort", "0", 1000),
        ("Burstable", "1Gi", 750),
        ("Burstable", "0", 999),
        ("Burstable", "4Gi", 3),
    ],
)
def test_who_asked_for_more_memory_is_killed_later(kind: str, request_: str, score: int) -> None:
    of = pod(container(resources={"requests": {"memory": request_}}), status={"qosClass": kind})

    assert oom_score(of, only(of), memory=4 * GIBI) == score


def test_a_critical_pod_is_killed_last() -> None:
    of = pod(priority=2_000_001_000, status={"qosClass": "BestEffort"})

    assert oom_score(of, only(of), memory=GIBI) == -997


def test_limits_become_what_cgroups_have() -> None:
    of = pod(
        container(
            resources={
                "limits": {"cpu": "500m", "memory": "64Mi", "hugepages-2Mi": "4Mi"},
                "requests": {"cpu": "250m"},
            }
        )
    )

    limits = linux_resources(of, only(of), memory=GIBI)

    assert (limits.cpu_shares, limits.cpu_quota, limits.cpu_period) == (256, 50000, 100000)
    assert limits.memory_limit_in_bytes == 64 * 2**20
    assert limits.hugepage_limits == (HugepageLimit(page_size="2MB", limit=4 * 2**20),)


def test_a_request_that_is_missing_is_the_limit_and_one_of_the_pod_holds_for_all() -> None:
    of = pod(
        container(resources={"limits": {"cpu": "1"}}), resources={"limits": {"memory": "32Mi"}}
    )

    limits = linux_resources(of, only(of), memory=GIBI)

    assert (limits.cpu_shares, limits.memory_limit_in_bytes) == (1024, 32 * 2**20)
