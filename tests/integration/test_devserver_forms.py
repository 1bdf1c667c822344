"""The forms in which requests come and answers go."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.integration.plain_client import TABLE, Client, config_map, pod


def test_a_table_has_the_usual_columns(client: Client) -> None:
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("web"))

    table = client.get(pods, **TABLE).body

    shown = [each["name"] for each in table["columnDefinitions"] if each["priority"] == 0]
    assert shown == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert table["rows"][0]["cells"][:4] == ["web", "0/1", "Pending", "0"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_metadata_can_be_had_alone(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a", {"x": "1"}))
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

    listing = client.get(config_maps, Accept=accept).body

    assert listing["kind"] == "PartialObjectMetadataList"
    assert [sorted(item) for item in listing["items"]] == [["apiVersion", "kind", "metadata"]]


def test_yaml_is_read_and_written(client: Client, config_maps: str) -> None:
    body = b"metadata: {name: a}\ndata: {word: 'yes'}\n"
    client.request("POST", config_maps, body, {"Content-Type": "application/yaml"})

    answer = client.get(f"{config_maps}/a", Accept="application/yaml")

    assert answer.headers["content-type"] == "application/yaml"
    assert b'data:\n  word: "yes"\nkind: ConfigMap\n' in answer.content


def test_large_answers_are_compressed_for_those_who_ask(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a", {"x": "y" * 200_000}))

    small = client.get("/api/v1/namespaces", **{"Accept-Encoding": "gzip"})
    large = client.get(config_maps, **{"Accept-Encoding": "gzip"})

    assert "content-encoding" not in small.headers
    assert large.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(large.content))["kind"] == "ConfigMapList"


def test_people_get_it_pretty(client: Client) -> None:
    answer = client.get("/api/v1/namespaces/default", **{"User-Agent": "curl/8"})

    assert answer.content.startswith(b'{\n  "kind": "Namespace",')


@pytest.mark.parametrize(
    ("accept", "said"),
    [
        ("application/foo", "406: Not Acceptable\n\nAvailable representations: application/json"),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io", "only the following media types are acc"),
    ],
)
def test_other_forms_are_not_acceptable(client: Client, accept: str, said: str) -> None:
    answer = client.get("/api/v1/namespaces/default", Accept=accept)

    assert (answer.code, answer.reason) == (406, "NotAcceptable")
    assert answer.message.startswith(said)


@pytest.mark.parametrize(
    ("content_type", "body", "code", "said"),
    [
        ("application/foo", b"{}", 415, "the body of the request was in an unknown format"),
        ("application/json", b"{bad", 400, "invalid character 'b' looking for beginning of obj"),
        ("application/json", b"", 400, "unexpected end of JSON input"),
        ("application/json", b"[]", 400, "cannot unmarshal array"),
        ("application/json", b'{"kind":"Secret","apiVersion":"v1"}', 400, "unknown conversion"),
        ("application/yaml", b"a: [", 400, "did not find expected node content"),
        ("application/json", b"[" * 200_000, 400, "exceeded max depth"),
    ],
)
def test_bodies_that_cannot_be_read_change_nothing(
    client: Client, config_maps: str, content_type: str, body: bytes, code: int, said: str
) -> None:
    answer = client.request("POST", config_maps, body, {"Content-Type": content_type})

    assert answer.code == code
    assert said in answer.message
    assert client.get(config_maps).body["items"] == []


def test_a_huge_body_is_refused(client: Client, config_maps: str) -> None:
    body = config_map("big", {"x": "y" * 3_200_000})

    answer = client.request("POST", config_maps, body)

    assert (answer.code, answer.reason) == (413, "RequestEntityTooLarge")
    assert answer.message == "Request entity too large: limit is 3145728"


@pytest.mark.parametrize(
    ("path", "is_plain"),
    [
        ("/nope", True),
        ("/apis/nope/v1/things", True),
        ("/api/v1/things", False),
        ("/apis/apps/v9/deployments", False),
        ("/api/v1/pods/name", False),
        ("/api/v1/namespaces/default/nodes", False),
        ("/api/v1/namespaces/default/configmaps/a/status", False),
    ],
)
def test_unknown_paths_are_not_found(client: Client, path: str, is_plain: bool) -> None:
    answer = client.get(path)

    assert answer.code == 404
    assert (answer.content == b"404 page not found\n") == is_plain


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/api/v1/namespaces/default/configmaps"),
        ("POST", "/api/v1/namespaces/default/configmaps/a"),
        ("POST", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
        ("OPTIONS", "/api/v1/namespaces"),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews"),
    ],
)
def test_other_methods_are_not_allowed(client: Client, method: str, path: str) -> None:
    answer = client.request(method, path)

    assert (answer.code, answer.reason) == (405, "MethodNotAllowed")


def test_strangers_are_not_let_in(client: Client) -> None:
    stranger = client.with_token("wrong")

    assert stranger.get("/api/v1/namespaces").code == 401
    assert stranger.get("/reflet.dev/faults").code == 401
    password = {"Authorization": "Basic eDp5"}  # that is nobody's token, and not a wrong one
    open_pages = ("/livez", "/readyz", "/healthz", "/version")
    assert [client.get(path, **password).code for path in open_pages] == [200] * 4


def test_unknown_fields_are_warned_of_or_refused(client: Client, config_maps: str) -> None:
    body = {**config_map("a"), "foo": 1}

    strict = client.request("POST", f"{config_maps}?fieldValidation=Strict", body)
    warned = client.request("POST", config_maps, body)

    assert strict.code == 400
    assert 'strict decoding error: unknown field "foo"' in strict.message
    assert warned.code == 201
    assert warned.headers["warning"] == '299 - "unknown field \\"foo\\""'


def test_what_is_taken_and_better_written_otherwise_is_warned_of(
    client: Client, config_maps: str
) -> None:
    place = config_maps.replace("/api/v1/", "/apis/networking.k8s.io/v1/")
    policies = place.replace("configmaps", "networkpolicies")
    rule = {"from": [{"ipBlock": {"cidr": "2001:DB8::/32"}}]}
    body = {"metadata": {"name": "a"}, "spec": {"podSelector": {}, "ingress": [rule]}}

    created = client.request("POST", policies, body)
    updated = client.request("PUT", f"{policies}/a", created.body)

    assert (created.code, updated.code) == (201, 200)
    assert "should be in RFC 5952 canonical format" in created.headers["warning"]
    assert updated.headers["warning"] == created.headers["warning"]


def test_discovery_has_an_index_of_everything(client: Client) -> None:
    groups = [group["name"] for group in client.get("/apis").body["groups"]]
    core = client.get("/api/v1").body["resources"]

    assert {"apps", "batch", "coordination.k8s.io", "events.k8s.io"} <= set(groups)
    assert {"configmaps", "pods", "pods/status"} <= {each["name"] for each in core}


def test_an_openapi_document_is_sent_once(client: Client) -> None:
    first = client.get("/openapi/v3/api/v1")

    again = client.get("/openapi/v3/api/v1", **{"If-None-Match": first.headers["etag"]})

    assert (first.code, again.code, again.content) == (200, 304, b"")


def test_the_binary_form_of_openapi_is_sent_once_and_not_mistaken_for_json(client: Client) -> None:
    """kubectl keeps answers by their path, unless they say that they depend on Accept."""
    wanted = {
        "Accept": "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        "Accept-Encoding": "gzip",
    }
    first = client.get("/openapi/v2", **wanted)

    again = client.get("/openapi/v2", **wanted, **{"If-None-Match": first.headers["etag"]})

    assert gzip.decompress(first.content).startswith(b"\x0a\x032.0")
    assert first.headers["vary"] == "Accept-Encoding, Accept"
    assert (first.code, again.code, again.content) == (200, 304, b"")
