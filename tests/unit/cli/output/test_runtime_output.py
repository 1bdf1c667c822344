from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reflet.cli.output.runtime_output import (
    EventLines,
    Observed,
    document,
    event_document,
    rows,
    span,
    state_of,
)
from reflet.pleg.compute_events import PodEvent, PodEventType
from reflet.pleg.runtime_status import (
    RuntimeContainerStatus,
    RuntimeSandbox,
    RuntimeState,
    RuntimeStatus,
)

NOW = datetime(2026, 11, 17, 12, 0, 0, tzinfo=UTC)


def life(name: str, state: str, *, ago: float = 60, **fields: object) -> RuntimeContainerStatus:
    at = NOW - timedelta(seconds=ago)
    ended = {"finished_at": at, "exit_code": 0} if state == "exited" else {}
    return RuntimeContainerStatus(
        id=f"{name}-0123456789abcdef",
        name=name,
        state=RuntimeState(state),
        created_at=at,
        started_at=at,
        **{**ended, **fields},  # type: ignore[arg-type]  # a test's own
    )


def observed(
    *lives: RuntimeContainerStatus,
    ago: float = 0.25,
    ready: bool = True,
    error: Exception | None = None,
) -> Observed:
    status = RuntimeStatus(
        uid="u",
        name="web-0",
        namespace="shop",
        ips=("10.0.0.7",),
        containers=lives,
        sandboxes=(RuntimeSandbox(id="s-0123456789abcdef", ready=ready, created_at=NOW),),
    )
    return Observed(status, NOW - timedelta(seconds=ago), error)


def shown(*pods: Observed, everything: bool = False, wide: bool = False) -> list[list[str]]:
    return [list(row) for row in rows(pods, NOW, everything=everything, wide=wide)]


def test_a_row_says_what_a_container_does_and_how_old_that_is() -> None:
    assert shown(observed(life("web", "running", restart_count=3))) == [
        ["shop", "web-0", "web", "Running", "3", "60s", "250ms ago"]
    ]


def test_what_does_not_run_is_only_shown_when_asked_for() -> None:
    pod = observed(life("web", "exited"), life("new", "created"))

    assert shown(pod) == []
    assert [row[3] for row in shown(pod, everything=True)] == ["Exited (0) 60s ago", "Created"]


def test_a_wide_row_says_where_and_what() -> None:
    (row,) = shown(observed(life("web", "running", image="busybox:1")), wide=True)

    assert row[7:] == ["10.0.0.7", "web-012345678", "busybox:1", ""]


def test_the_last_words_are_one_line() -> None:
    (row,) = shown(observed(life("web", "exited", message="no\nspace")), everything=True, wide=True)

    assert row[-1] == "no space"


@pytest.mark.parametrize(("ready", "state"), [(True, "Ready"), (False, "Not ready")])
def test_a_pod_without_containers_is_its_sandbox(ready: bool, state: str) -> None:
    (row,) = shown(observed(ready=ready), everything=True)

    assert row[2:4] == ["(sandbox)", state]


def test_a_pod_of_nothing_says_so() -> None:
    pod = Observed(RuntimeStatus(uid="u", name="p", namespace="n"), NOW)

    assert shown(pod, everything=True)[0][2:6] == ["<none>", "No sandbox", "", ""]


def test_a_status_that_could_not_be_had_is_unknown_and_says_why() -> None:
    (row,) = shown(observed(error=Exception("hung")), everything=True, wide=True)

    assert (row[3], row[-1]) == ("Unknown", "hung")


@pytest.mark.parametrize(
    ("reason", "code", "text"),
    [
        ("Error", 7, "Exited (7)"),
        ("", 0, "Exited (0)"),
        ("Completed", 0, "Completed (0)"),
        ("OOMKilled", 137, "OOMKilled (137)"),
    ],
)
def test_how_it_ended_is_in_its_state(reason: str, code: int, text: str) -> None:
    assert state_of(life("web", "exited", reason=reason, exit_code=code)) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0ms"), (0.0149, "15ms"), (1, "1s"), (90, "90s"), (7200, "120m")]
)
def test_a_short_time_is_in_milliseconds(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_a_document_has_what_there_is_to_know() -> None:
    found = document([observed(life("web", "running"))], {"name": "containerd"}, everything=False)

    (pod,) = found["items"]
    assert (pod["uid"], pod["observedAt"]) == ("u", "2026-11-17T11:59:59.750000Z")
    assert "exitCode" not in pod["containers"][0]
    assert found["runtime"] == {"name": "containerd"}


def test_an_error_is_in_the_document() -> None:
    found = document([observed(error=Exception("hung"))], {}, everything=True)

    assert found["items"][0]["error"] == "hung"


def test_pods_that_ended_are_only_in_the_whole_document() -> None:
    pod = observed(life("web", "exited"))

    assert document([pod], {}, everything=False)["items"] == []
    assert len(document([pod], {}, everything=True)["items"]) == 1


def test_an_event_says_when_it_was_observed_and_how_late() -> None:
    ended = life("web", "exited", ago=0.3, exit_code=7, reason="Error")
    event = PodEvent("u", PodEventType.CONTAINER_DIED, ended.id)

    line = EventLines().line(event, observed(ended, ago=0.25))

    assert line.split()[1:] == ["50ms", "ContainerDied", "shop", "web-0", "web", "Exited", "(7)"]


def test_an_event_of_what_is_gone_still_has_its_name() -> None:
    lines = EventLines()
    lines.learn(observed(life("web", "exited")).status)
    gone = Observed(RuntimeStatus(uid="u"), NOW)

    named = lines.line(
        PodEvent("u", PodEventType.CONTAINER_REMOVED, life("web", "exited").id), gone
    )
    unnamed = lines.line(PodEvent("u", PodEventType.CONTAINER_REMOVED, "other"), gone)

    assert named.split()[1:] == ["ContainerRemoved", "shop", "web-0", "web"]
    assert unnamed.split()[1:] == ["ContainerRemoved", "other"]


def test_an_event_for_programs_has_the_pod() -> None:
    event = PodEvent("u", PodEventType.CONTAINER_STARTED, "c")

    found = event_document(event, observed(life("web", "running")))

    assert (found["type"], found["containerID"]) == ("ContainerStarted", "c")
    assert found["object"]["name"] == "web-0"
