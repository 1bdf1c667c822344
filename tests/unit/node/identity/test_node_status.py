from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from reflet.api.codec import decode
from reflet.api.core.nodes import Node
from reflet.node.identity.machine import Machine, Pressure
from reflet.node.identity.node_status import (
    NodeFacts,
    is_worth_telling,
    new_node,
    node_status,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2026, 1, 2, 3, 5, tzinfo=UTC)
MACHINE = Machine(
    host_name="here",
    architecture="amd64",
    kernel="6.1",
    system="Debian",
    boot_id="b",
    machine_id="m",
    cpus=2,
    memory=4 * 2**30,
)
FACTS = NodeFacts(name="worker-1", machine=MACHINE, addresses=("10.0.0.1",), port=10248)
PLENTY = Pressure(memory_free=2**30, disk_free=0.5, disk_size=10**9, processes_free=0.9)


def status(pressure: Pressure = PLENTY, not_ready: str | None = None, now: datetime = NOW):  # type: ignore[no-untyped-def] # a document
    return node_status(FACTS, pressure, not_ready=not_ready, before=None, now=now)


def test_a_node_keeps_pods_away_that_do_not_ask_for_processes() -> None:
    node = decode(msgspec.json.encode(new_node(FACTS)), Node)

    assert [(each.key, each.effect) for each in node.spec.taints] == [
        ("reflet.dev/process-runtime", "NoSchedule")
    ]
    assert node.metadata.labels["kubernetes.io/hostname"] == "worker-1"


def test_a_status_says_how_large_the_machine_is_and_where_it_answers() -> None:
    found = status()

    assert found["capacity"]["cpu"] == "2"
    assert found["capacity"]["memory"] == "4194304Ki"
    assert found["addresses"][0] == {"type": "InternalIP", "address": "10.0.0.1"}
    assert found["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 10248}}


def test_no_more_pods_are_told_than_fit() -> None:
    few = node_status(replace(FACTS, most_pods=24), PLENTY, not_ready=None, before=None, now=NOW)

    assert (few["capacity"]["pods"], few["allocatable"]["pods"]) == ("24", "24")
    assert status()["capacity"]["pods"] == "1000"


def test_conditions_follow_from_what_is_left() -> None:
    short = Pressure(memory_free=1, disk_free=0.01, disk_size=10**9, processes_free=0.0)

    well = {each["type"]: each["status"] for each in status()["conditions"]}
    unwell = {each["type"]: each["status"] for each in status(short, "away")["conditions"]}

    assert well == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert unwell == {
        "MemoryPressure": "True",
        "DiskPressure": "True",
        "PIDPressure": "True",
        "Ready": "False",
    }


def test_that_time_passes_is_not_worth_telling() -> None:
    assert is_worth_telling(None, status())
    assert not is_worth_telling(status(), status(now=LATER))
    assert is_worth_telling(status(), status(not_ready="away"))


def test_a_transition_keeps_its_moment() -> None:
    document = {**new_node(FACTS), "status": status()}
    before = decode(msgspec.json.encode(document), Node)

    same = node_status(FACTS, PLENTY, not_ready=None, before=before, now=LATER)
    other = node_status(FACTS, PLENTY, not_ready="away", before=before, now=LATER)

    assert same["conditions"][-1]["lastTransitionTime"] == "2026-01-02T03:04:05Z"
    assert other["conditions"][-1]["lastTransitionTime"] == "2026-01-02T03:05:00Z"


MEMORY = 100 * 2**20


@pytest.mark.parametrize(
    ("left", "condition", "state", "reason"),
    [
        ({"memory_free": MEMORY}, "MemoryPressure", "False", "KubeletHasSufficientMemory"),
        ({"memory_free": MEMORY - 1}, "MemoryPressure", "True", "KubeletHasInsufficientMemory"),
        ({"disk_free": 0.10}, "DiskPressure", "False", "KubeletHasNoDiskPressure"),
        ({"disk_free": 0.09}, "DiskPressure", "True", "KubeletHasDiskPressure"),
        ({"processes_free": 0.05}, "PIDPressure", "False", "KubeletHasSufficientPID"),
        ({"processes_free": 0.04}, "PIDPressure", "True", "KubeletHasInsufficientPID"),
    ],
)
def test_what_runs_out_is_told_at_the_kubelets_thresholds_and_in_its_words(
    left: dict[str, Any], condition: str, state: str, reason: str
) -> None:
    conditions = status(replace(PLENTY, **left))["conditions"]

    found = next(each for each in conditions if each["type"] == condition)
    assert (found["status"], found["reason"]) == (state, reason)


def test_a_node_that_is_not_ready_says_why() -> None:
    ready = status(not_ready="the shim is away")["conditions"][-1]

    assert (ready["reason"], ready["message"]) == ("KubeletNotReady", "the shim is away")


def test_a_condition_that_never_said_since_when_begins_now() -> None:
    document = {**new_node(FACTS), "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    before = decode(msgspec.json.encode(document), Node)

    found = node_status(FACTS, PLENTY, not_ready=None, before=before, now=NOW)

    assert found["conditions"][-1]["lastTransitionTime"] == "2026-01-02T03:04:05Z"


def test_a_node_is_found_by_its_name_too() -> None:
    assert status()["addresses"][-1] == {"type": "Hostname", "address": "worker-1"}


def test_the_disk_is_told_in_the_units_of_the_server() -> None:
    assert status()["capacity"]["ephemeral-storage"] == f"{10**9 // 1024}Ki"
