"""Faults on request: each happens exactly as it says, and as often."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing

import pytest

from reflet.devserver.faults import Action, Fault
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import Client, config_map

NAMESPACES = "/api/v1/namespaces"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
    ],
)
def test_a_status_is_answered_as_often_as_asked(
    server: RunningServer, client: Client, code: int, reason: str
) -> None:
    server.add_fault(Fault(Action.STATUS, status=code, times=2, verb="list"))

    answers = [client.get(NAMESPACES) for _ in range(3)]

    assert [answer.code for answer in answers] == [code, code, 200]
    assert answers[0].reason == reason


def test_a_throttled_client_is_told_how_long_to_wait(server: RunningServer, client: Client) -> None:
    server.add_fault(Fault(Action.STATUS, status=429, retry_after=7))

    answer = client.get(NAMESPACES)

    assert answer.headers["retry-after"] == "7"
    assert answer.body["details"]["retryAfterSeconds"] == 7


def test_a_fault_waits_for_its_turn_and_for_its_resource(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    server.add_fault(Fault(Action.STATUS, status=503, resource="configmaps", after=1))

    codes = [client.get(path).code for path in (NAMESPACES, config_maps, config_maps, config_maps)]

    assert codes == [200, 200, 503, 200]


def test_a_dropped_request_gets_no_head(server: RunningServer, client: Client) -> None:
    server.add_fault(Fault(Action.DROP))

    with pytest.raises(http.client.RemoteDisconnected):
        client.get(NAMESPACES)


def test_a_reset_answer_ends_in_its_middle(server: RunningServer, client: Client) -> None:
    server.add_fault(Fault(Action.RESET))

    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        client.get(NAMESPACES)


def test_a_stalled_request_is_never_answered(server: RunningServer, client: Client) -> None:
    server.add_fault(Fault(Action.STALL))

    with closing(client.connect()) as connection:
        connection.timeout = 0.3
        connection.request("GET", "/livez")
        with pytest.raises(TimeoutError):
            connection.getresponse()


def test_a_delayed_answer_comes_later(server: RunningServer, client: Client) -> None:
    server.add_fault(Fault(Action.DELAY, seconds=0.2))
    before = time.monotonic()

    answer = client.get(NAMESPACES)

    assert answer.code == 200
    assert time.monotonic() - before >= 0.2


def test_a_truncated_answer_is_not_json(server: RunningServer, client: Client) -> None:
    server.add_fault(Fault(Action.TRUNCATE))

    with pytest.raises(ValueError, match=r"."):
        _ = client.get(NAMESPACES).body


def test_a_watch_is_reset_in_the_middle_of_a_line(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    server.add_fault(Fault(Action.RESET, verb="watch"))

    with client.watch(f"{config_maps}?watch=1") as watch:
        client.create(config_maps, config_map("a"))
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            watch.rest()


def test_open_watches_are_reset_at_once(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a"))

    with client.watch(f"{config_maps}?watch=1") as watch:
        watch.event()
        server.add_fault(Fault(Action.RESET, verb="watch", now=True))
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            watch.rest()


def test_open_watches_are_closed_cleanly(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a"))

    with client.watch(f"{config_maps}?watch=1") as watch:
        watch.event()
        server.add_fault(Fault(Action.CLOSE, resource="configmaps", now=True))
        assert watch.rest() == b""


def test_a_line_is_cut_and_the_stream_ends(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    server.add_fault(Fault(Action.TRUNCATE, verb="watch"))

    with client.watch(f"{config_maps}?watch=1") as watch:
        client.create(config_maps, config_map("a"))
        rest = watch.rest()

    assert rest.startswith(b'{"type":"ADDED"')
    assert not rest.endswith(b"\n")


def test_a_line_is_corrupt_and_the_stream_goes_on(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    server.add_fault(Fault(Action.CORRUPT, verb="watch"))

    with client.watch(f"{config_maps}?watch=1") as watch:
        client.create(config_maps, config_map("a"))
        bad = watch.line()
        client.create(config_maps, config_map("b"))
        told = watch.kinds_and_names(1)

    with pytest.raises(json.JSONDecodeError):
        json.loads(bad)
    assert told == [("ADDED", "b")]


def test_a_stalled_watch_says_nothing(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    server.add_fault(Fault(Action.STALL, verb="watch"))

    with closing(client.connect()) as connection:
        headers = {"Authorization": f"Bearer {server.token}"}
        connection.request("GET", f"{config_maps}?watch=1", headers=headers)
        response = connection.getresponse()
        connection.sock.settimeout(0.3)
        client.create(config_maps, config_map("a"))
        with closing(response), pytest.raises(TimeoutError):
            response.readline()


def test_a_restart_breaks_connections_and_keeps_the_state(
    server: RunningServer, client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a"))

    with client.watch(f"{config_maps}?watch=1") as watch:
        watch.event()
        server.restart()
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            watch.rest()

    assert client.get(f"{config_maps}/a").code == 200


def test_faults_are_made_and_counted_from_another_process(client: Client) -> None:
    fault = {"action": "status", "status": 503, "verb": "list"}

    made = client.request("POST", "/reflet.dev/faults", fault)
    client.get(NAMESPACES)
    after = client.get("/reflet.dev/faults").body

    assert (made.code, len(made.body["waiting"])) == (200, 1)
    assert (after["waiting"], len(after["fired"])) == ([], 1)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"action": "explode"}, "fault action 'explode' is not one of drop, reset"),
        ({"action": "drop", "often": 3}, "a fault has no 'often'"),
        ({"action": "drop", "times": "3"}, "the times of a fault is not '3'"),
        ({}, "a fault needs an action"),
        ([1], "a fault is a JSON object"),
    ],
)
def test_what_is_no_fault_is_refused(client: Client, fault: object, said: str) -> None:
    answer = client.request("POST", "/reflet.dev/faults", fault)

    assert answer.code == 400
    assert said in answer.message


def test_requests_are_remembered(server: RunningServer, client: Client, config_maps: str) -> None:
    client.get(f"{config_maps}?limit=1", **{"User-Agent": "tester/1"})

    last = server.requests[-1]

    assert (last.method, last.verb, last.resource) == ("GET", "list", "configmaps")
    assert (last.query, last.user_agent) == ({"limit": "1"}, "tester/1")
