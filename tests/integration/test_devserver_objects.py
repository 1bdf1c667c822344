"""Objects come, change and go as in a real server."""

from __future__ import annotations

import pytest

from tests.integration.plain_client import APPLY_PATCH, MERGE_PATCH, Client, config_map, pod


def test_a_created_object_is_given_an_identity(client: Client, config_maps: str) -> None:
    made = client.create(config_maps, config_map("a", {"x": "1"}))

    assert made["metadata"]["uid"]
    assert made["metadata"]["creationTimestamp"]
    assert client.get(f"{config_maps}/a").body == made


def test_a_name_is_used_once(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a"))

    answer = client.request("POST", config_maps, config_map("a"))

    assert (answer.code, answer.reason) == (409, "AlreadyExists")
    assert answer.message == 'configmaps "a" already exists'


def test_what_is_not_there_is_not_found(client: Client, config_maps: str) -> None:
    answer = client.get(f"{config_maps}/nobody")

    assert answer.code == 404
    assert answer.body["details"] == {"name": "nobody", "kind": "configmaps"}


def test_an_update_of_an_old_version_is_a_conflict(client: Client, config_maps: str) -> None:
    made = client.create(config_maps, config_map("a", {"x": "1"}))
    client.request("PUT", f"{config_maps}/a", config_map("a", {"x": "2"}))

    answer = client.request("PUT", f"{config_maps}/a", {**made, "data": {"x": "3"}})

    assert answer.code == 409
    assert answer.message == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please '
        "apply your changes to the latest version and try again"
    )


def test_an_update_that_changes_nothing_makes_no_version(client: Client, config_maps: str) -> None:
    made = client.create(config_maps, config_map("a", {"x": "1"}))

    answer = client.request("PUT", f"{config_maps}/a", config_map("a", {"x": "1"}))

    assert answer.body["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_dry_run_stores_nothing(client: Client, config_maps: str) -> None:
    answer = client.request("POST", f"{config_maps}?dryRun=All", config_map("a"))

    assert answer.code == 201
    assert client.get(f"{config_maps}/a").code == 404


def test_a_patch_changes_only_what_it_says(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a", {"x": "1", "y": "2"}))

    client.request("PATCH", f"{config_maps}/a", b'{"data":{"x":null,"z":"3"}}', MERGE_PATCH)

    assert client.get(f"{config_maps}/a").body["data"] == {"y": "2", "z": "3"}


def test_an_apply_makes_what_is_missing_and_knows_its_manager(
    client: Client, config_maps: str
) -> None:
    body = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}"

    answer = client.request("PATCH", f"{config_maps}/a?fieldManager=me", body, APPLY_PATCH)

    assert answer.code == 201
    assert answer.body["metadata"]["managedFields"][0]["manager"] == "me"


def test_appliers_conflict_unless_one_uses_force(client: Client, config_maps: str) -> None:
    first = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}"
    other = first.replace(b"'1'", b"'2'")
    client.request("PATCH", f"{config_maps}/a?fieldManager=me", first, APPLY_PATCH)

    refused = client.request("PATCH", f"{config_maps}/a?fieldManager=you", other, APPLY_PATCH)
    forced = client.request(
        "PATCH", f"{config_maps}/a?fieldManager=you&force=true", other, APPLY_PATCH
    )

    assert (refused.code, forced.code) == (409, 200)
    assert refused.message.startswith('Apply failed with 1 conflict: conflict with "me": .data.x')


def test_a_deleted_object_is_gone(client: Client, config_maps: str) -> None:
    made = client.create(config_maps, config_map("a"))

    answer = client.request("DELETE", f"{config_maps}/a")

    uid = made["metadata"]["uid"]
    assert answer.body["details"] == {"name": "a", "kind": "configmaps", "uid": uid}
    assert client.get(f"{config_maps}/a").code == 404


def test_finalizers_hold_an_object_until_the_last_is_removed(
    client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a", finalizers=["example.com/hold"]))

    going = client.request("DELETE", f"{config_maps}/a").body
    released = b'{"metadata":{"finalizers":null}}'
    client.request("PATCH", f"{config_maps}/a", released, MERGE_PATCH)

    assert going["metadata"]["deletionTimestamp"]
    assert client.get(f"{config_maps}/a").code == 404


@pytest.mark.parametrize(
    ("preconditions", "said"),
    [
        ({"uid": "other"}, "the UID in the precondition (other) does not match"),
        ({"resourceVersion": "1"}, "the ResourceVersion in the precondition (1) does not match"),
    ],
)
def test_a_delete_keeps_what_does_not_meet_its_preconditions(
    client: Client, config_maps: str, preconditions: dict[str, str], said: str
) -> None:
    client.create(config_maps, config_map("a"))

    answer = client.request("DELETE", f"{config_maps}/a", {"preconditions": preconditions})

    assert (answer.code, answer.reason) == (409, "Conflict")
    assert said in answer.message
    assert client.get(f"{config_maps}/a").code == 200


def test_a_collection_is_deleted_by_its_labels(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a", labels={"go": "yes"}))
    client.create(config_maps, config_map("b"))

    client.request("DELETE", f"{config_maps}?labelSelector=go%3Dyes")

    assert [each["metadata"]["name"] for each in client.get(config_maps).body["items"]] == ["b"]


def test_nothing_is_made_in_a_namespace_that_is_not_there(client: Client) -> None:
    answer = client.request("POST", "/api/v1/namespaces/nowhere/configmaps", config_map("a"))

    assert (answer.code, answer.message) == (404, 'namespaces "nowhere" not found')


def test_a_namespace_goes_with_all_that_is_in_it(client: Client) -> None:
    client.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    client.create("/api/v1/namespaces/team/configmaps", config_map("a"))

    client.request("DELETE", "/api/v1/namespaces/team")

    assert client.get("/api/v1/namespaces/team").code == 404
    assert client.get("/api/v1/namespaces/team/configmaps").body["items"] == []


def test_a_namespace_that_is_held_takes_nothing_new(client: Client) -> None:
    client.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    inside = "/api/v1/namespaces/team/configmaps"
    client.create(inside, config_map("a", finalizers=["example.com/hold"]))
    client.request("DELETE", "/api/v1/namespaces/team")

    refused = client.request("POST", inside, config_map("b"))
    released = b'{"metadata":{"finalizers":null}}'
    client.request("PATCH", f"{inside}/a", released, MERGE_PATCH)

    assert refused.code == 403
    assert refused.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert client.get("/api/v1/namespaces/team").code == 404


def test_the_default_namespace_stays(client: Client) -> None:
    answer = client.request("DELETE", "/api/v1/namespaces/default")

    assert answer.code == 403
    assert answer.message == 'namespaces "default" is forbidden: this namespace may not be deleted'


def test_a_pod_goes_at_once_unless_it_is_given_time(client: Client) -> None:
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("quick", nodeName="node"))
    client.create(pods, pod("slow", nodeName="node"))

    client.request("DELETE", f"{pods}/quick")
    given = client.request("DELETE", f"{pods}/slow", {"gracePeriodSeconds": 5}).body

    assert client.get(f"{pods}/quick").code == 404
    assert given["metadata"]["deletionGracePeriodSeconds"] == 5
    assert client.get(f"{pods}/slow").code == 200


def test_a_lease_is_made_by_an_update(client: Client) -> None:
    lease = {"metadata": {"name": "leader"}, "spec": {"holderIdentity": "me"}}

    answer = client.request(
        "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader", lease
    )

    assert answer.code == 201


def test_an_event_has_two_faces(client: Client) -> None:
    client.create(
        "/api/v1/namespaces/default/events",
        {
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
            "message": "hello",
        },
    )

    shown = client.get("/apis/events.k8s.io/v1/namespaces/default/events/e").body

    assert (shown["apiVersion"], shown["note"]) == ("events.k8s.io/v1", "hello")
    assert shown["regarding"]["name"] == "p"
