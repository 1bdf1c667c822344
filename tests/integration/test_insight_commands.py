"""``why``, ``used-by`` and ``lint`` on the development server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests import insight_scenes
from tests.insight_scenes import DAPI_TEST_POD, Commands, Create
from tests.integration.plain_client import Client

POD_PATH = "/api/v1/namespaces/default/pods"


@pytest.fixture
def commands(server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    return Commands(server.kubeconfig, "default", capsys, tmp_path)


@pytest.fixture
def create(client: Client) -> Create:
    def create(collection: str, document: Mapping[str, Any]) -> Any:
        root, _, plural = collection.rpartition("/")
        answer = client.request(
            "POST", f"{root or '/api/v1'}/namespaces/default/{plural}", document
        )
        assert answer.code == 201, answer.message
        return answer.body

    return create


def test_the_missing_key_of_the_seeds_example(commands: Commands, create: Create) -> None:
    insight_scenes.check_the_missing_key_of_the_seeds_example(commands, create)


def test_users_of_a_secret(commands: Commands, create: Create) -> None:
    insight_scenes.check_users_of_a_secret(commands, create)


def test_users_by_label(commands: Commands, create: Create) -> None:
    insight_scenes.check_users_by_label(commands, create)


def test_an_immutable_object_that_changed(commands: Commands, create: Create) -> None:
    insight_scenes.check_an_immutable_object_that_changed(commands, create)


def test_status_and_events_are_matched_with_the_reasons(
    commands: Commands, create: Create, client: Client
) -> None:
    text = "couldn't find key special.how in ConfigMap default/special-config"
    create("configmaps", insight_scenes.SPECIAL_CONFIG)
    pod = create("pods", DAPI_TEST_POD)
    waiting = {"reason": "CreateContainerConfigError", "message": text}
    status = {
        "phase": "Pending",
        "containerStatuses": [
            {
                "name": "test-container",
                "image": "i",
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"waiting": waiting},
            }
        ],
    }
    answer = client.request("PUT", f"{POD_PATH}/dapi-test-pod/status", {**pod, "status": status})
    assert answer.code == 200, answer.message
    for name, reason, message in (
        ("a", "Failed", f"Error: {text}"),
        ("b", "FailedKillPod", "x"),
    ):
        create(
            "events",
            {
                "metadata": {"name": name},
                "involvedObject": {
                    "kind": "Pod",
                    "namespace": "default",
                    "name": "dapi-test-pod",
                    "uid": pod["metadata"]["uid"],
                },
                "type": "Warning",
                "reason": reason,
                "message": message,
            },
        )

    code, document = commands.on_server("why", "pod/dapi-test-pod")

    (reason,) = document["reasons"]
    assert code == 1
    assert [signal["source"] for signal in reason["explains"]] == ["container", "event"]
    assert [(signal["reason"], signal["configuration"]) for signal in document["unexplained"]] == [
        ("FailedKillPod", False)
    ]


def test_pods_are_told_under_their_deployment_in_every_namespace(
    commands: Commands, create: Create
) -> None:
    deployment = create("/apis/apps/v1/deployments", insight_scenes.DEPLOYMENT)
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "web",
        "uid": deployment["metadata"]["uid"],
        "controller": True,
    }
    template = insight_scenes.TEMPLATE
    create(
        "pods",
        {"metadata": {"name": "web-1", "ownerReferences": [owner]}, "spec": template["spec"]},
    )

    _, document = commands.on_server("used-by", "secret/database", "-A")

    (user,) = document["users"]
    assert (user["namespace"], user["name"], user["pods"]) == ("default", "web", ["web-1"])
    assert document["totals"]["podsToRestart"] == 1
