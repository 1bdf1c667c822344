"""A pod that is made gets the token of its service account, unless somebody declines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.templates.service_account_volume import (
    ADDED_VOLUME,
    MOUNT_PATH,
    with_token_volume,
)

META = ObjectMeta(name="kube-root-ca.crt", namespace="shop")


def pod(**spec: Any) -> Pod:
    raw = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "web"}], **spec},
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def volumes(item: Pod) -> list[str]:
    return [volume.name for volume in item.spec.volumes]


def test_every_container_but_ephemeral_ones_mounts_it_read_only() -> None:
    made = with_token_volume(
        pod(initContainers=[{"name": "init"}], ephemeralContainers=[{"name": "debug"}])
    )

    spec = made.spec
    mounts = [
        [(mount.name, mount.mount_path, mount.read_only) for mount in each.volume_mounts]
        for each in (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)
    ]
    assert mounts == [[(ADDED_VOLUME, MOUNT_PATH, True)], [(ADDED_VOLUME, MOUNT_PATH, True)], []]
    assert volumes(made) == [ADDED_VOLUME]


@pytest.mark.parametrize(
    ("of_pod", "of_account", "is_added"),
    [
        (None, None, True),
        (None, False, False),
        (None, True, True),
        (False, True, False),
        (True, False, True),
    ],
)
def test_the_pod_decides_and_then_its_account(
    of_pod: bool | None, of_account: bool | None, is_added: bool
) -> None:
    account = ServiceAccount(automount_service_account_token=of_account)

    made = with_token_volume(pod(automountServiceAccountToken=of_pod), account)

    assert (volumes(made) == [ADDED_VOLUME]) is is_added


def test_a_container_that_mounts_something_there_keeps_it() -> None:
    own = {"name": "web", "volumeMounts": [{"name": "mine", "mountPath": MOUNT_PATH}]}
    before = pod(containers=[own], volumes=[{"name": "mine", "emptyDir": {}}])

    assert with_token_volume(before) is before


def test_a_volume_that_is_there_is_mounted_again() -> None:
    made = with_token_volume(pod(volumes=[{"name": "kube-api-access-abcde", "emptyDir": {}}]))

    assert volumes(made) == ["kube-api-access-abcde"]
    assert made.spec.containers[0].volume_mounts[0].name == "kube-api-access-abcde"


def contents(*objects: ConfigMap, **more: Any) -> dict[str, bytes | None]:
    inputs = PodInputs(pod=with_token_volume(pod()), objects=ObjectsInHand(objects, **more))
    volume = inputs.volume(ADDED_VOLUME)
    assert volume.error is None
    return {path: file.data if file.known else None for path, file in volume.files.items()}


def test_what_is_not_at_hand_is_not_known_and_nothing_is_wrong() -> None:
    assert contents() == {"token": None, "ca.crt": None, "namespace": b"shop"}


def test_certificates_that_may_not_be_read_are_not_known() -> None:
    refused = Forbidden("no", code=403, reason="Forbidden")
    key = ("ConfigMap", "shop", "kube-root-ca.crt")

    assert contents(failures={key: refused})["ca.crt"] is None


def test_certificates_that_are_at_hand_are_shown() -> None:
    assert contents(ConfigMap(metadata=META, data={"ca.crt": "PEM"}))["ca.crt"] == b"PEM"
