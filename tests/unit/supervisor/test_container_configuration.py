"""What one container gets, and whether the kubelet would start it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.errors import CacheNotSynced, Forbidden
from reflet.supervisor.container_configuration import volumes_of
from tests.unit.supervisor.scenes import config_map, pod, resolved

LEVEL = {
    "name": "LEVEL",
    "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "level"}},
}
SETTINGS = {"name": "settings", "configMap": {"name": "settings", "defaultMode": 420}}
OTHER = {"name": "other", "configMap": {"name": "other", "defaultMode": 420}}
MOUNT = {"name": "settings", "mountPath": "/a"}


def projected(*sources: dict[str, Any]) -> dict[str, Any]:
    return {"name": "settings", "projected": {"defaultMode": 420, "sources": list(sources)}}


TOKEN = {"serviceAccountToken": {"path": "token"}}
PART = {"configMap": {"name": "settings"}}


def test_only_the_volumes_that_it_mounts_concern_a_container() -> None:
    subject = pod({"volumeMounts": [MOUNT]}, [OTHER, SETTINGS])

    assert volumes_of(subject, "main") == ("settings",)
    assert resolved(subject, config_map("settings")).refusal is None


def test_a_missing_object_is_refused_in_the_kubelets_words() -> None:
    assert resolved(pod({"env": [LEVEL]})).refusal == 'configmap "settings" not found'


def test_volumes_are_set_up_before_a_container_is_made() -> None:
    subject = pod({"env": [LEVEL], "volumeMounts": [MOUNT]}, [SETTINGS])

    assert resolved(subject).refusal == (
        'MountVolume.SetUp failed for volume "settings" : configmap "settings" not found'
    )


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (pod({"env": [LEVEL]}), "failed to sync configmap cache"),
        (
            pod({"volumeMounts": [MOUNT]}, [SETTINGS]),
            'MountVolume.SetUp failed for volume "settings"',
        ),
    ],
)
def test_a_refusal_that_hides_its_reason_is_told_with_it(subject: Pod, said: str) -> None:
    error = CacheNotSynced("configmap", "shop", "settings")
    error.__cause__ = Forbidden("you may not get settings")

    refusal = resolved(subject, failures={("ConfigMap", "shop", "settings"): error}).refusal

    assert refusal is not None
    assert refusal.startswith(said)
    assert refusal.endswith("timed out waiting for the condition (you may not get settings)")


def test_a_token_can_be_done_without_and_the_rest_is_there() -> None:
    subject = pod({"volumeMounts": [MOUNT]}, [projected(TOKEN, PART)])

    configuration = resolved(subject, config_map("settings", a="1"))

    assert configuration.refusal is None
    assert list(configuration.volumes["settings"].files) == ["a"]
    assert [sentence for sentence in configuration.left_out() if "token" in sentence] != []


def test_anything_else_that_is_missing_beside_a_token_is_refused() -> None:
    subject = pod({"volumeMounts": [MOUNT]}, [projected(TOKEN, PART)])

    refusal = resolved(subject).refusal

    assert refusal is not None
    assert 'configmap "settings" not found' in refusal


def test_what_only_the_cluster_knows_is_told() -> None:
    field = {"apiVersion": "v1", "fieldPath": "metadata.name"}
    name = {"name": "POD", "valueFrom": {"fieldRef": field}}
    named = pod({"env": [name]})
    template = structs.replace(named, metadata=structs.replace(named.metadata, name="", uid=""))

    assert list(resolved(template).left_out()) == [
        "POD is known only in the cluster and empty here: --set POD=… sets it"
    ]


@pytest.mark.parametrize(("seconds", "grace"), [(None, 30.0), (0, 0.0), (7, 7.0)])
def test_the_grace_period_is_the_pods(seconds: int | None, grace: float) -> None:
    subject = pod(terminationGracePeriodSeconds=seconds)

    assert resolved(subject).grace == grace


@pytest.mark.parametrize(("mode", "has"), [(0o644, False), (0o755, True), (0o500, True)])
def test_a_file_that_may_be_run_is_a_program(mode: int, has: bool) -> None:
    volume = {"name": "settings", "configMap": {"name": "settings", "defaultMode": mode}}
    subject = pod({"volumeMounts": [MOUNT]}, [volume])

    assert resolved(subject, config_map("settings", a="1")).has_programs is has
