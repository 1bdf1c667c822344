"""The recorded cases of the kubelet's generic PLEG."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.pleg.relist import Pleg
from reflet.pleg.runtime_status import RuntimeStatus
from reflet.pleg.status_cache import StatusCache
from reflet.testing.virtual_time import ManualClock
from tests.pod_runtime import FakeRuntime, pod

RECORDED = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())["pleg"]
CASES = {case["test"]: case for case in RECORDED["cases"]}
SERIES = [name for name, case in CASES.items() if "relists" in case]
OF_ITS_OWN = {"TestEventChannelFull", "TestHealthy", "TestReinspect"}


def told(pleg: Pleg) -> list[list[str]]:
    """The events that wait, as the cases write them; their order is not significant."""
    return sorted([event.uid, event.type, event.container_id] for event in pleg.events.take_all())


def show(runtime: FakeRuntime, pods: dict[str, dict[str, str]]) -> None:
    runtime.show(*(pod(uid, containers) for uid, containers in pods.items()))


def cached(cache: StatusCache, uid: str) -> str:
    """A pod in the cache, as the cases write it."""
    inspection = cache.get(uid)
    if inspection.error is not None:
        return f"error {inspection.error}"
    return "empty status with id" if inspection.status == RuntimeStatus(uid=uid) else "ok"


def arrange(runtime: FakeRuntime, step: dict[str, Any]) -> None:
    if step["pods"] != "same":
        show(runtime, step["pods"])
    runtime.failures = {
        f"status {uid}": Exception(text) for uid, text in step.get("statusError", {}).items()
    }
    runtime.ips = {uid: tuple(step.get("status", {}).get("ips", ())) for uid in runtime.pods}


def seen_after(
    step: dict[str, Any], pleg: Pleg, runtime: FakeRuntime, cache: StatusCache
) -> dict[str, Any]:
    """What the cases say of a relist, and no more than this one says."""
    events, statuses = told(pleg), runtime.statuses_asked()
    everything = {
        "events": events,
        "cache": {uid: cached(cache, uid) for uid in step.get("cache", ())},
        "cacheGet": {uid: cached(cache, uid) for uid in step.get("cacheGet", ())},
        "cacheIPs": [list(cache.get(uid).status.ips) for uid in runtime.pods],
        "statusCalls": statuses,
    }
    return {key: value for key, value in everything.items() if key in step}


def expected_after(step: dict[str, Any]) -> dict[str, Any]:
    said = {"events", "cache", "cacheGet", "cacheIPs", "statusCalls"}
    expected = {key: value for key, value in step.items() if key in said}
    if "events" in expected:
        expected["events"] = sorted(expected["events"])
    if "cacheIPs" in expected:
        expected["cacheIPs"] = [expected["cacheIPs"]]
    return expected


@pytest.mark.parametrize("name", SERIES)
async def test_recorded_relists(name: str) -> None:
    runtime, cache = FakeRuntime(), StatusCache()
    pleg = Pleg(runtime, cache, clock=ManualClock())

    seen = []
    for step in CASES[name]["relists"]:
        arrange(runtime, step)
        await pleg.relist()
        seen.append(seen_after(step, pleg, runtime, cache))

    assert seen == [expected_after(step) for step in CASES[name]["relists"]]


async def test_recorded_event_channel_full() -> None:
    runtime = FakeRuntime()
    capacity = CASES["TestEventChannelFull"]["channelSize"]
    pleg = Pleg(runtime, StatusCache(), clock=ManualClock(), event_capacity=capacity)
    relists = CASES["TestRelisting"]["relists"]
    show(runtime, relists[0]["pods"])
    await pleg.relist()
    told(pleg)

    show(runtime, relists[2]["pods"])
    await pleg.relist()

    kept = told(pleg)
    assert (len(kept), pleg.events.dropped) == (4, 1)
    assert all(event in relists[2]["events"] for event in kept)


async def test_recorded_health() -> None:
    case = CASES["TestHealthy"]
    clock = ManualClock()
    pleg = Pleg(FakeRuntime(), StatusCache(), clock=clock, threshold=case["thresholdSeconds"])

    seen: list[list[Any]] = []
    for step, value in case["steps"]:
        if step == "advance":
            clock.advance(value)
        elif step == "relist":
            await pleg.relist()
        seen.append([step, pleg.healthy() if step == "healthy" else value])

    assert seen == case["steps"]


@pytest.mark.parametrize(
    "row", CASES["TestReinspect"]["table"], ids=lambda row: ", ".join(k for k in row if row[k])
)
async def test_recorded_reinspection(row: dict[str, Any]) -> None:
    runtime, cache = FakeRuntime(pod("p")), StatusCache()
    pleg = Pleg(runtime, cache, clock=ManualClock())
    await pleg.relist()
    if row["flagged"]:
        pleg.request_reinspection("p")
    if row.get("podGone"):
        runtime.show()
    if row.get("statusError"):
        runtime.failures["status p"] = Exception("unable to get status")
    runtime.asked.clear()

    await pleg.relist()

    events = [event.type for event in pleg.events.take_all()]
    fetched = runtime.statuses_asked() == ["p"]
    empty = cache.get("p").status == RuntimeStatus(uid="p")
    await pleg.relist()
    still_flagged = runtime.statuses_asked() == ["p"]
    assert events == ([] if row["event"] is None else [row["event"]])
    assert fetched is row.get("statusFetched", not row.get("podGone"))
    assert still_flagged is row.get("stillFlagged", False)
    assert empty or row.get("cache") != "empty"


def test_every_recorded_case_is_run() -> None:
    assert {*SERIES, *OF_ITS_OWN} == CASES.keys()
