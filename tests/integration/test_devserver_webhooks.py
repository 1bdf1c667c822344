"""Webhooks over TLS: what comes of their answers, and who else writes meanwhile."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflet.testing.pytest_plugin import running_server
from tests.integration.plain_client import APPLY_PATCH, MERGE_PATCH, Client
from tests.webhook_scenes import (
    CONFIG_MAPS_ONLY,
    MUTATING,
    VALIDATING,
    Document,
    WebhookServer,
    config_map,
    configuration,
    deny,
    install,
    patching,
    webhook,
)

PATIENCE = 30.0  # seconds for what happens at once


@pytest.fixture
def hooks() -> Iterator[WebhookServer]:
    with WebhookServer() as server:
        yield server


def test_a_mutating_webhook_changes_what_is_stored(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    hooks.replies["add"] = patching({"op": "add", "path": "/data/added", "value": "yes"})
    install(client, MUTATING, hooks.client_config("add"))

    client.create(config_maps, config_map())

    assert client.get(f"{config_maps}/c").body["data"] == {"key": "value", "added": "yes"}


def test_what_a_webhook_adds_has_no_manager(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    hooks.replies["add"] = patching({"op": "add", "path": "/data/added", "value": "yes"})
    install(client, MUTATING, hooks.client_config("add"))

    made = client.create(config_maps, config_map())

    (entry,) = made["metadata"]["managedFields"]
    assert set(entry["fieldsV1"]["f:data"]) == {".", "f:key"}


def test_a_validating_webhook_sees_what_mutating_ones_made(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    hooks.replies["add"] = patching({"op": "add", "path": "/data/added", "value": "yes"})
    install(client, MUTATING, hooks.client_config("add"))
    install(client, VALIDATING, hooks.client_config("check"))

    client.create(config_maps, config_map())

    (asked,) = hooks.requests("check")
    assert asked["object"]["data"] == {"key": "value", "added": "yes"}
    assert asked["object"]["metadata"]["uid"]


def test_a_denied_write_changes_nothing(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    hooks.replies["no"] = deny(code=403, reason="Forbidden", message="not today")
    install(client, VALIDATING, hooks.client_config("no"))

    answer = client.request("POST", config_maps, config_map())

    assert (answer.code, answer.reason) == (403, "Forbidden")
    assert answer.message == 'admission webhook "one.example.org" denied the request: not today'
    assert client.get(f"{config_maps}/c").code == 404


def test_warnings_of_a_webhook_come_with_the_answer(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    hooks.replies["warn"] = lambda _: {"allowed": True, "warnings": ["old", 'say "new"']}
    install(client, VALIDATING, hooks.client_config("warn"))

    answer = client.request("POST", config_maps, config_map())

    assert answer.headers["warning"] == '299 - "old", 299 - "say \\"new\\""'


def test_a_webhook_that_is_deleted_is_not_called_any_more(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    install(client, VALIDATING, hooks.client_config("check"))
    client.request("DELETE", f"{VALIDATING}/one")

    client.create(config_maps, config_map())

    assert hooks.asked == []


def test_match_conditions_are_taken_to_hold_and_a_warning_says_so(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    never = [{"name": "never", "expression": "false"}]
    made = webhook("one", hooks.client_config("check"), matchConditions=never)

    answer = client.request("POST", VALIDATING, configuration("one", made))
    client.create(config_maps, config_map())

    assert "webhooks[0].matchConditions: this development server" in answer.headers["warning"]
    assert len(hooks.requests("check")) == 1


# Others meanwhile


def test_two_who_patch_at_once_both_get_their_way(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    both = threading.Barrier(2)

    def meet(request: Document) -> Document:
        if request["operation"] == "UPDATE" and len(hooks.requests("check")) <= 3:
            both.wait(PATIENCE)
        return {"allowed": True}

    hooks.replies["check"] = meet
    install(client, VALIDATING, hooks.client_config("check"))
    client.create(config_maps, config_map())

    def change(key: str) -> int:
        patch = {"data": {key: "mine"}}
        return client.request("PATCH", f"{config_maps}/c", patch, MERGE_PATCH).code

    with ThreadPoolExecutor(2) as people:
        codes = list(people.map(change, ["a", "b"]))

    assert codes == [200, 200]
    assert client.get(f"{config_maps}/c").body["data"] == {
        "key": "value",
        "a": "mine",
        "b": "mine",
    }
    assert len(hooks.requests("check")) == 4  # the slower one asks again


def test_reads_and_other_writes_go_on_while_a_webhook_thinks(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    asked, over = threading.Event(), threading.Event()

    def think(_: Document) -> Document:
        asked.set()
        return {"allowed": over.wait(PATIENCE)}

    hooks.replies["slow"] = think
    install(client, VALIDATING, hooks.client_config("slow"))

    with ThreadPoolExecutor(1) as people:
        waiting = people.submit(client.request, "POST", config_maps, config_map())
        assert asked.wait(PATIENCE)
        secrets = "/api/v1/namespaces/default/secrets"
        client.create(secrets, {"metadata": {"name": "s"}})
        assert client.get(f"{config_maps}/c").code == 404
        over.set()
        assert waiting.result().code == 201


# What is there at the start


def test_files_are_loaded_without_asking_and_their_webhooks_are_called_afterwards(
    hooks: WebhookServer, tmp_path: Path
) -> None:
    hooks.replies["no"] = deny()
    made = configuration("one", webhook("one", hooks.client_config("no"), rules=[CONFIG_MAPS_ONLY]))
    documents = [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            **made,
        },
        {"apiVersion": "v1", "kind": "ConfigMap", **config_map("loaded")},
    ]
    folder = tmp_path / "files"
    folder.mkdir()
    for index, document in enumerate(documents):
        (folder / f"{index}.json").write_text(json.dumps(document))

    with running_server({"tls": False, "load": [str(folder)]}) as server:
        client = Client(server.url, server.token)
        path = "/api/v1/namespaces/default/configmaps"
        loaded = client.get(f"{path}/loaded").code
        denied = client.request("POST", path, config_map()).code

    assert (loaded, denied, len(hooks.asked)) == (200, 400, 1)


def test_webhooks_of_an_earlier_life_are_called(
    hooks: WebhookServer, config_maps: str, tmp_path: Path
) -> None:
    hooks.replies["no"] = deny()
    options = {"tls": False, "data_dir": tmp_path / "data"}
    with running_server(options) as server:
        install(Client(server.url, server.token), VALIDATING, hooks.client_config("no"))

    with running_server(options) as server:
        answer = Client(server.url, server.token).request("POST", config_maps, config_map())

    assert answer.code == 400


def test_an_apply_that_makes_an_object_is_a_create_for_webhooks(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    install(client, VALIDATING, hooks.client_config("check"))
    applied = {"apiVersion": "v1", "kind": "ConfigMap", **config_map()}

    for _ in range(2):
        client.request("PATCH", f"{config_maps}/c?fieldManager=m", applied, APPLY_PATCH)

    asked = [(each["operation"], each["options"]["kind"]) for each in hooks.requests("check")]
    assert asked == [("CREATE", "CreateOptions"), ("UPDATE", "UpdateOptions")]
