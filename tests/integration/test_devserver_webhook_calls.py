"""How webhooks are found, trusted and waited for, and what is made of answers that are none."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator

import pytest

from reflet.devserver.admission.admission_reviews import CallFailed
from reflet.devserver.admission.webhook_client import WebhookClient
from reflet.devserver.admission.webhook_matching import webhooks_of
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from tests.integration.plain_client import Client
from tests.real.certificates import Authority
from tests.webhook_scenes import (
    HOST,
    MUTATING,
    VALIDATING,
    Document,
    Raw,
    WebhookServer,
    config_map,
    configuration,
    install,
    webhook,
)

PATIENCE = 30.0  # seconds for what happens at once

SERVICE = {"namespace": "default", "name": "hooks", "path": "/check"}


@pytest.fixture
def hooks() -> Iterator[WebhookServer]:
    with WebhookServer() as server:
        yield server


# Where webhooks are, and who they are


def behind_service(hooks: WebhookServer, *, slices: bool) -> Storage:
    """Store a service whose endpoint is the webhook, as no client could: on this very machine."""
    storage = Storage()
    ports = [{"name": "tls", "port": 443, "targetPort": 9443}]
    storage.create(Key("services", "default", "hooks"), {"spec": {"ports": ports}})
    port = {"name": "tls", "port": hooks.port}
    if slices:
        metadata = {"labels": {"kubernetes.io/service-name": "hooks"}}
        away = {"addresses": ["127.0.0.9"], "conditions": {"ready": False}}
        endpoints = [away, {"addresses": [HOST]}]
        storage.create(
            Key("endpointslices.discovery.k8s.io", "default", "hooks-1"),
            {"metadata": metadata, "ports": [port], "endpoints": endpoints},
        )
    else:
        subset = {"addresses": [{"ip": HOST}], "ports": [port]}
        storage.create(Key("endpoints", "default", "hooks"), {"subsets": [subset]})
    return storage


async def posted(storage: Storage, hooks: WebhookServer) -> bytes:
    """Ask the webhook behind the service."""
    where = {"service": SERVICE, "caBundle": hooks.ca_bundle}
    (found,) = webhooks_of(configuration("one", webhook("one", where)))
    client = WebhookClient(storage)
    try:
        return await client.post(found, {"request": {"uid": "u"}, "apiVersion": "", "kind": ""})
    finally:
        await client.close()


@pytest.mark.parametrize("slices", [True, False], ids=["EndpointSlice", "Endpoints"])
async def test_a_webhook_is_found_behind_a_service(hooks: WebhookServer, slices: bool) -> None:
    await posted(behind_service(hooks, slices=slices), hooks)

    (asked,) = hooks.asked
    assert asked.path == "/check?timeout=10s"
    assert asked.headers["Host"] == "hooks.default.svc:443"


async def test_a_webhook_behind_a_service_must_have_the_name_of_the_service() -> None:
    with WebhookServer(names=(HOST,)) as hooks, pytest.raises(CallFailed) as failed:
        await posted(behind_service(hooks, slices=True), hooks)

    assert "tls: failed to verify certificate: x509: " in str(failed.value)
    assert "hooks.default.svc" in str(failed.value)


def test_a_service_of_an_outer_name_leads_there(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    spec = {"type": "ExternalName", "externalName": "localhost"}
    client.create(
        "/api/v1/namespaces/default/services", {"metadata": {"name": "hooks"}, "spec": spec}
    )
    where = {"service": {**SERVICE, "port": hooks.port}, "caBundle": hooks.ca_bundle}
    install(client, VALIDATING, where)

    client.create(config_maps, config_map())

    assert len(hooks.asked) == 1


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        ({"name": "absent"}, 'service "absent" not found'),
        ({"port": 8443}, 'no service port 8443 found for service "hooks"'),
        ({}, 'no endpoints available for service "hooks"'),
    ],
)
def test_a_service_that_leads_nowhere_is_named(
    client: Client, config_maps: str, service: Document, problem: str
) -> None:
    spec = {"ports": [{"port": 443}]}
    client.create(
        "/api/v1/namespaces/default/services", {"metadata": {"name": "hooks"}, "spec": spec}
    )
    install(client, VALIDATING, {"service": {**SERVICE, **service}})

    answer = client.request("POST", config_maps, config_map())

    assert (answer.code, answer.reason) == (500, "InternalError")
    assert answer.message.endswith(problem)


@pytest.mark.parametrize(
    "bundle",
    [None, base64.b64encode(Authority("somebody else").pem).decode()],
    ids=["none", "another's"],
)
def test_a_webhook_that_nobody_vouches_for_is_not_told_anything(
    client: Client, hooks: WebhookServer, config_maps: str, bundle: str | None
) -> None:
    where = {"url": hooks.url("check")} | ({} if bundle is None else {"caBundle": bundle})
    install(client, VALIDATING, where)

    answer = client.request("POST", config_maps, config_map())

    assert "x509: certificate signed by unknown authority" in answer.message
    assert hooks.asked == []


def test_a_bundle_that_is_none_is_a_failed_call(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    bundle = base64.b64encode(
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    ).decode()
    install(client, VALIDATING, {"url": hooks.url("check"), "caBundle": bundle})

    answer = client.request("POST", config_maps, config_map())

    assert (answer.code, hooks.asked) == (500, [])
    assert 'failed calling webhook "one.example.org"' in answer.message


def test_connections_are_kept_for_the_next_write(client: Client, config_maps: str) -> None:
    with WebhookServer(keeps_connections=True) as hooks:
        install(client, VALIDATING, hooks.client_config("check"))

        for name in "abc":
            client.create(config_maps, config_map(name))

        connections = {asked.connection for asked in hooks.asked}
        client.request("DELETE", f"{VALIDATING}/one")
        for connection in connections:
            connection.shutdown(socket.SHUT_RDWR)
    assert (len(hooks.asked), len(connections)) == (3, 1)


# Failures


def test_a_webhook_that_is_too_slow_has_not_answered(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    over = threading.Event()
    hooks.replies["slow"] = lambda _: {"allowed": over.wait(PATIENCE)}
    install(client, VALIDATING, hooks.client_config("slow"), timeoutSeconds=1)

    answer = client.request("POST", config_maps, config_map())
    over.set()

    assert (answer.code, answer.reason) == (500, "InternalError")
    assert answer.message == (
        'Internal error occurred: failed calling webhook "one.example.org": failed to call '
        f'webhook: Post "{hooks.url("slow")}?timeout=1s": context deadline exceeded'
    )


@pytest.mark.parametrize("path", ["/{}/", "/x//../{}"])
def test_the_path_of_a_webhook_is_written_the_shortest_way(
    client: Client, hooks: WebhookServer, config_maps: str, path: str
) -> None:
    config = hooks.client_config("tidy")
    host, name = config["url"].rsplit("/", 1)
    install(client, VALIDATING, config | {"url": host + path.format(name)})

    client.request("POST", config_maps, config_map())

    assert len(hooks.requests("tidy")) == 1


def test_a_failing_webhook_may_be_ignored(client: Client, config_maps: str) -> None:
    nobody = {"url": "https://127.0.0.1:1/"}
    install(client, VALIDATING, nobody, failurePolicy="Ignore")
    install(client, MUTATING, nobody, failurePolicy="Ignore")

    assert client.request("POST", config_maps, config_map()).code == 201


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Raw(b"oh", 500, "text/plain"), 'an error on the server ("oh") has prevented'),
        (Raw(b"", 404), "the server could not find the requested resource"),
        (Raw(b"", 302), "the server responded with the status code 302"),
        (Raw(b"no", 403, "text/plain"), "failed to call webhook: no"),
        (Raw(b"", 200), "0-length response with status code: 200"),
        (Raw(b"<html>", 200, "text/html"), "failed to call webhook: "),
    ],
)
def test_an_answer_that_is_no_review_is_a_failed_call(
    client: Client, hooks: WebhookServer, config_maps: str, reply: Raw, problem: str
) -> None:
    hooks.replies["broken"] = lambda _: reply
    install(client, VALIDATING, hooks.client_config("broken"))

    answer = client.request("POST", config_maps, config_map())

    assert (answer.code, answer.reason) == (500, "InternalError")
    assert problem in answer.message


def test_an_endless_answer_is_not_read_to_its_end(
    client: Client, hooks: WebhookServer, config_maps: str
) -> None:
    hooks.replies["flood"] = lambda _: Raw(b" " * (17 * 2**20))
    install(client, VALIDATING, hooks.client_config("flood"))

    answer = client.request("POST", config_maps, config_map())

    assert "the answer has more than" in answer.message
