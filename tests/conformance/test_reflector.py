"""The recorded cases of client-go's reflector."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import KubernetesObject, ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import (
    ApiError,
    Cause,
    ConnectionRefused,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    RefletError,
    Timeout,
    TooManyRequests,
)
from reflet.informer.reflector.reflector import Reflector
from reflet.informer.reflector.watch_list import INITIAL_EVENTS_END
from reflet.runtime.backoff import Backoff
from reflet.store.store import Store
from reflet.testing.scripted_source import After, Quiet, ScriptedSource, Step, listing

RECORDED = json.loads((Path(__file__).parent / "data" / "reflector.json").read_text())

FORBIDDEN = "pods is forbidden: no relationship found between node and this object"
ERRORS: dict[str, Exception] = {
    "expired": Expired("too old resource version", code=410, reason="Expired"),
    "gone": Gone("gone", code=410, reason="Gone"),
    "toolarge": Timeout(
        "Timeout: Too large resource version",
        code=504,
        reason="Timeout",
        causes=[Cause("ResourceVersionTooLarge", "Too large resource version")],
    ),
    "429": TooManyRequests("slow down", code=429, reason="TooManyRequests"),
    "refused": ConnectionRefused("connection refused"),
    "internal": InternalError("internal", code=500, reason="InternalError"),
    "invalid": Invalid("invalid", code=422, reason="Invalid"),
    "forbidden": Forbidden(FORBIDDEN, code=403, reason="Forbidden"),
}


class CountingBackoff(Backoff):
    """Counts the delays that were asked for."""

    asked = 0

    def next_delay(self) -> float:
        self.asked += 1
        return super().next_delay()


def error(code: str) -> Exception:
    return ERRORS.get(code) or RefletError(code)


def item(recorded: dict[str, Any]) -> KubernetesObject:
    annotations = {}
    if "initialEventsEnd" in recorded:
        annotations[INITIAL_EVENTS_END] = recorded["initialEventsEnd"]
    metadata = ObjectMeta(
        name=recorded.get("name", ""),
        namespace="ns" if "name" in recorded else "",
        resource_version=recorded["rv"],
        annotations=annotations,
    )
    return Secret(metadata=metadata) if "wrongType" in recorded else ConfigMap(metadata=metadata)


def step(recorded: dict[str, Any]) -> Step[KubernetesObject]:
    if recorded["type"] == "ERROR":
        return error(recorded["error"])
    return WatchEvent(type=recorded["type"], object=item(recorded))


def list_answer(reply: dict[str, Any]) -> Listing[KubernetesObject] | Exception:
    if "error" in reply:
        return error(reply["error"])
    items = map(item, reply.get("items", ()))
    return listing(reply["rv"], *items, continue_=reply.get("continue", ""))


def watch_script(reply: dict[str, Any]) -> list[Step[KubernetesObject]] | Exception:
    if "error" in reply:
        return error(reply["error"])
    script: list[Step[KubernetesObject]] = []
    if "sleepMs" in reply:
        script.append(After(reply["sleepMs"] / 1000))
    script += map(step, reply.get("events", ()))
    if reply["then"] != "close":
        script.append(Quiet.HEALTHY)
    return script


def request(options: ListOptions | WatchOptions) -> dict[str, Any]:
    """A request as the cases write it."""
    version = {"resourceVersion": options.resource_version or ""}
    if isinstance(options, ListOptions):
        optional = {"limit": options.limit, "continue": options.continue_}
        return {"verb": "list", **version, **{key: it for key, it in optional.items() if it}}
    optional = {
        "resourceVersionMatch": options.resource_version_match,
        "sendInitialEvents": options.send_initial_events,
    }
    return {
        "verb": "watch",
        "allowWatchBookmarks": options.allow_bookmarks,
        "timeoutSecondsSet": 300 <= (options.timeout_seconds or 0) <= 600,
        **version,
        **{key: it for key, it in optional.items() if it},
    }


async def one_run(
    reflector: Reflector[KubernetesObject], source: ScriptedSource[KubernetesObject]
) -> str:
    """One pass, stopped by the caller when nothing more comes; the answer is its error."""
    run = asyncio.create_task(reflector.list_and_watch())
    quiet = asyncio.create_task(source.until_quiet())
    await asyncio.wait((run, quiet), return_when=asyncio.FIRST_COMPLETED)
    run.cancel()
    quiet.cancel()
    await asyncio.wait((run, quiet))
    failure = None if run.cancelled() else run.exception()
    return "" if failure is None else str(failure)


@pytest.mark.virtual_time
@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
async def test_recorded(case: dict[str, Any]) -> None:
    source = ScriptedSource[KubernetesObject](
        lists=[list_answer(reply) for reply in case["replies"] if reply["verb"] == "list"],
        watches=[watch_script(reply) for reply in case["replies"] if reply["verb"] == "watch"],
    )
    store = Store[KubernetesObject]()
    backoff = CountingBackoff()
    reflector = Reflector(
        source,
        store,
        description="*v1.Pod",
        expected_kind=("v1", "ConfigMap"),
        backoff=backoff,
        streaming=case["useWatchList"],
        internal_error_window=case.get("maxInternalErrorRetrySeconds", 0),
    )

    runs = []
    for _ in range(case["runs"]):
        backoff.asked = 0
        source.asked.clear()
        failure = await one_run(reflector, source)
        runs.append(
            {
                "error": failure,
                "backoffCalls": backoff.asked,
                "lastSyncResourceVersion": reflector.last_version,
                "paginatedResult": reflector.paginated,
                "rvUnavailable": reflector.version_unavailable,
                "requests": [request(options) for options in source.asked],
                "store": {
                    held.metadata.name: held.metadata.resource_version for held in store.objects()
                },
            }
        )

    assert runs == case["expectRuns"]
    assert source.open_watches == 0


def test_every_recorded_error_is_of_its_kind() -> None:
    """Guards the table above: a case with a misspelt error would test something else."""
    used = {
        step["error"]
        for case in RECORDED["cases"]
        for reply in case["replies"]
        for step in (reply, *reply.get("events", ()))
        if "error" in step
    }

    assert used - ERRORS.keys() == {"boom"}
    assert all(isinstance(known, ApiError | ConnectionRefused) for known in ERRORS.values())
