"""Lists in pages, at versions and by selectors."""

from __future__ import annotations

import pytest

from reflet.devserver.faults import Action, Fault
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import Answer, Client, config_map, pod


def names(answer: Answer) -> list[str]:
    assert answer.code == 200, answer.content
    return [each["metadata"]["name"] for each in answer.body["items"]]


@pytest.fixture
def five(client: Client, config_maps: str) -> str:
    for index in range(5):
        labels = {"even": str(index % 2 == 0).lower()}
        client.create(config_maps, config_map(f"c{index}", labels=labels))
    return config_maps


def test_items_of_a_list_do_not_repeat_their_kind(client: Client, five: str) -> None:
    listing = client.get(five).body

    assert (listing["kind"], listing["apiVersion"]) == ("ConfigMapList", "v1")
    assert all("kind" not in item for item in listing["items"])


def test_pages_show_the_list_as_it_was_at_the_first(client: Client, five: str) -> None:
    first = client.get(f"{five}?limit=2")
    client.request("DELETE", f"{five}/c3")
    client.create(five, config_map("c9"))
    second = client.get(f"{five}?limit=10&continue={first.body['metadata']['continue']}")

    assert first.body["metadata"]["remainingItemCount"] == 3
    assert names(first) + names(second) == ["c0", "c1", "c2", "c3", "c4"]


def test_with_a_selector_nobody_counts_the_rest(client: Client, five: str) -> None:
    metadata = client.get(f"{five}?limit=1&labelSelector=even%3Dtrue").body["metadata"]

    assert "continue" in metadata
    assert "remainingItemCount" not in metadata


def test_an_expired_token_comes_with_one_that_goes_on_regardless(
    server: RunningServer, client: Client, five: str
) -> None:
    token = client.get(f"{five}?limit=2").body["metadata"]["continue"]
    server.add_fault(Fault(Action.EXPIRE, now=True))

    refused = client.get(f"{five}?limit=2&continue={token}")
    again = client.get(f"{five}?continue={refused.body['metadata']['continue']}")

    assert (refused.code, refused.reason) == (410, "Expired")
    assert names(again) == ["c2", "c3", "c4"]


def test_a_list_can_be_read_as_it_was(client: Client, five: str) -> None:
    version = client.get(five).body["metadata"]["resourceVersion"]
    client.request("DELETE", f"{five}/c0")

    then = client.get(f"{five}?resourceVersion={version}&resourceVersionMatch=Exact")

    assert names(then) == ["c0", "c1", "c2", "c3", "c4"]


def test_from_memory_there_are_no_pages(client: Client, five: str) -> None:
    assert len(names(client.get(f"{five}?limit=2&resourceVersion=0"))) == 5


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "resourceVersion=abc",
            400,
            'invalid resource version: resourceVersion: Invalid value: "a',
        ),
        ("resourceVersionMatch=Exact", 422, "resourceVersionMatch is forbidden unless"),
        ("resourceVersionMatch=Exact&resourceVersion=0", 422, '"exact" is forbidden for'),
        ("sendInitialEvents=true", 422, "sendInitialEvents is forbidden for list"),
        ("fieldSelector=spec.foo%3Db", 400, '"spec.foo" is not a known field selector'),
        ("fieldSelector=spec.foo", 400, "invalid selector: 'spec.foo'; can't understand"),
        ("labelSelector=a+in+(", 400, "unable to parse requirement: found '', expected: ',', ')'"),
        ("continue=garbage", 400, "invalid continue token: continue key is not valid"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    client: Client, config_maps: str, query: str, code: int, said: str
) -> None:
    answer = client.get(f"{config_maps}?{query}")

    assert answer.code == code
    assert said in answer.message


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=bound", ["bound"]),
        ("spec.nodeName=node", ["bound"]),
        ("spec.nodeName!=node", ["free"]),
        ("status.phase=Pending", ["bound", "free"]),
        ("metadata.namespace=elsewhere", []),
    ],
)
def test_pods_are_selected_by_fields(client: Client, selector: str, expected: list[str]) -> None:
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("bound", nodeName="node"))
    client.create(pods, pod("free"))

    found = client.get(f"{pods}?fieldSelector={selector.replace('=', '%3D')}")

    assert names(found) == expected


def test_secrets_are_selected_by_type_and_services_by_address(client: Client) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    client.create(secrets, {"metadata": {"name": "plain"}})
    client.create(secrets, {"metadata": {"name": "own"}, "type": "example.com/own"})

    by_type = client.get(f"{secrets}?fieldSelector=type%3Dexample.com/own")
    headless = client.get("/api/v1/services?fieldSelector=spec.clusterIP%3DNone")

    assert names(by_type) == ["own"]
    assert names(headless) == []
