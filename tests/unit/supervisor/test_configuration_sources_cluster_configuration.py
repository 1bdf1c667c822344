"""What is asked for on behalf of one container is what that container needs."""

from __future__ import annotations

from reflet.resolution.references.references import config_map_names, secret_names
from reflet.resolution.volumes.file_contents import common_user
from reflet.supervisor.configuration_sources import needed_by
from tests.unit.supervisor.scenes import pod

SETTINGS = {"name": "settings", "configMap": {"name": "settings"}}
OTHER = {"name": "other", "secret": {"secretName": "other"}}
SUBJECT = pod(
    {
        "envFrom": [{"configMapRef": {"name": "variables"}}],
        "volumeMounts": [{"name": "settings", "mountPath": "/a"}],
        "securityContext": {"runAsUser": 7},
    },
    [SETTINGS, OTHER],
    imagePullSecrets=[{"name": "registry"}],
    initContainers=[
        {
            "name": "prepare",
            "envFrom": [{"secretRef": {"name": "secrets"}}],
            "volumeMounts": [{"name": "other", "mountPath": "/b"}],
            "securityContext": {"runAsUser": 8},
        }
    ],
)


def test_objects_of_other_containers_and_of_image_pulls_are_not_read() -> None:
    needed = needed_by(SUBJECT, "main")

    assert sorted(config_map_names(needed)) == ["settings", "variables"]
    assert sorted(secret_names(needed)) == []


def test_another_container_needs_other_objects() -> None:
    needed = needed_by(SUBJECT, "prepare")

    assert sorted(config_map_names(needed)) == []
    assert sorted(secret_names(needed)) == ["other", "secrets"]


def test_who_files_belong_to_is_decided_by_all_containers() -> None:
    assert common_user(needed_by(SUBJECT, "main")) == common_user(SUBJECT) is None


def test_an_account_that_is_not_named_is_the_default_one() -> None:
    assert needed_by(SUBJECT, "main").spec.service_account_name == "default"
