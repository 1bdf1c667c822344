"""Scenes for ``diff``, ``unused`` and ``used-by``: the same on our server and on a real one.

Owns: the objects, and what the commands say about them.  Must not know which server it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.insight_scenes import DATABASE, DEPLOYMENT, Commands, Create

SETTINGS: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"level": "info", "spare": "x"},
}


def workload(name: str = "api", **variables: str) -> Mapping[str, Any]:
    """A Deployment with a variable of the ConfigMap, and plain ones."""
    level = {"configMapKeyRef": {"name": "settings", "key": "level"}}
    plain = [{"name": key, "value": value} for key, value in variables.items()]
    container = {
        "name": "api",
        "image": "api",
        "env": [{"name": "LEVEL", "valueFrom": level}, *plain],
    }
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def check_files_are_compared_with_what_they_would_change(
    commands: Commands, create: Create
) -> None:
    """What the files do not hold is the cluster's: a Secret is no difference."""
    for document in (SETTINGS, DATABASE):
        create("configmaps" if document is SETTINGS else "secrets", document)
    for document in (DEPLOYMENT, workload()):
        create("/apis/apps/v1/deployments", document)
    changed = {**SETTINGS, "data": {"level": "debug"}}

    same = commands.on_server("diff", "-f", commands.saved([DEPLOYMENT, workload(), SETTINGS]))
    path = commands.saved([DEPLOYMENT, workload(), workload("new"), changed])
    code, document = commands.on_server("diff", "-f", path)
    one = commands.on_server("diff", "deploy/web", "-f", path)

    assert (same[0], same[1]["differs"]) == (0, False)
    assert code == 1
    found = {each["name"]: each for each in document["workloads"]}
    assert not found["deployment/web"]["differs"]
    assert found["deployment/new"]["new"]
    api = found["deployment/api"]
    assert (api["rolled"], api["needsRestart"], api["replicas"]) == (False, True, 2)
    (change,) = api["containers"][0]["variables"]
    assert (change["name"], change["before"]["value"], change["after"]["value"]) == (
        *("LEVEL", "info", "debug"),
    )
    assert one[0] == 0


def check_two_workloads_are_compared(commands: Commands, create: Create) -> None:
    """The one with the other, in one namespace."""
    create("configmaps", SETTINGS)
    for document in (workload(), workload("other", EXTRA="1")):
        create("/apis/apps/v1/deployments", document)

    code, document = commands.on_server("diff", "deploy/api", "deploy/other")
    missing = commands.on_server("diff", "deploy/api", "deploy/nope")

    (found,) = document["workloads"]
    assert (code, [each["name"] for each in found["containers"][0]["variables"]]) == (1, ["EXTRA"])
    assert missing[0] == 2
    assert "there is no deployment/nope" in missing[1]


def check_what_is_not_in_another_namespace_is_a_difference(
    commands: Commands, create: Create
) -> None:
    """A workload that is missing on the other side is gone."""
    create("configmaps", SETTINGS)
    create("/apis/apps/v1/deployments", workload())

    code, document = commands.on_server("diff", "deploy/api", "--to-namespace", "kube-public")

    (found,) = document["workloads"]
    assert (code, found["gone"]) == (1, True)


def check_a_namespace_that_does_not_exist_is_a_mistake(commands: Commands, create: Create) -> None:
    """A typing error must not look like a workload that is gone."""
    create("/apis/apps/v1/deployments", workload())

    code, said = commands.on_server("diff", "deploy/api", "--to-namespace", "kube-pubic")

    assert (code, "namespace kube-pubic does not exist" in said) == (2, True)


def check_what_nothing_uses(commands: Commands, create: Create) -> None:
    """An object, and a key of another one; with the same answer from files."""
    forgotten = {**SETTINGS, "metadata": {"name": "forgotten"}}
    objects = [SETTINGS, forgotten, DATABASE, workload(), DEPLOYMENT]
    for document in objects:
        root = "/apis/apps/v1/" if document["kind"] == "Deployment" else ""
        create(f"{root}{document['kind'].lower()}s", document)

    from_server = commands.on_server("unused")
    from_files = commands.on_files("unused", objects=objects)

    for code, document in (from_server, from_files):
        assert code == 1
        assert [(each["name"], each["keys"]) for each in document["items"]] == [
            ("forgotten", None),
            ("settings", ["spare"]),
        ]
    assert from_server[1]["items"][0]["created"] is not None


def check_users_of_what_does_not_exist(commands: Commands, create: Create) -> None:
    """Who names it is shown, and that it is not there."""
    create("/apis/apps/v1/deployments", workload())

    code, document = commands.on_server("used-by", "cm/settings")

    assert (code, document["exists"]) == (1, False)
    assert [user["name"] for user in document["users"]] == ["api"]


def check_what_admission_adds(commands: Commands, create: Create) -> None:
    """The files of a workload's pods have the token of their service account."""
    create("serviceaccounts", {"metadata": {"name": "default"}})
    create("/apis/apps/v1/deployments", workload())

    _, files = commands.on_server("files", "deploy/api")

    assert [(each["path"], each["addedByAdmission"]) for each in files] == [
        *(("token", True), ("ca.crt", True), ("namespace", True)),
    ]
