"""The volume that a real server's admission adds to pods, beside the one that we say it adds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import ServiceAccount
from reflet.resolution.templates.service_account_volume import (
    ADDED_VOLUME,
    MOUNT_PATH,
    with_token_volume,
)
from tests.real.kube_server import KubeServer

PATH = "/api/v1/namespaces/default"
DISABLED = "--disable-admission-plugins="


class AdmittingServer(KubeServer):
    """A server that asks for service accounts, which somebody else has to make."""

    def _apiserver_command(self) -> list[str]:
        command = super()._apiserver_command()
        return [flag for flag in command if not flag.startswith(DISABLED)]


@pytest.fixture(scope="module")
def admitting() -> Iterator[KubeServer]:
    with AdmittingServer() as server:
        with server.connect() as connection:
            accounts = f"{PATH}/serviceaccounts"
            connection.create(accounts, {"metadata": {"name": "default"}})
            declines = {"metadata": {"name": "declines"}, "automountServiceAccountToken": False}
            connection.create(accounts, declines)
        yield server


OWN = [{"name": "own", "mountPath": MOUNT_PATH}]
EMPTY = {"name": "own", "emptyDir": {}}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"initContainers": [{"name": "init", "image": "i"}]},
        {"automountServiceAccountToken": False},
        {"serviceAccountName": "declines"},
        {"serviceAccountName": "declines", "automountServiceAccountToken": True},
        {
            "containers": [
                {"name": "one", "image": "i", "volumeMounts": OWN},
                {"name": "two", "image": "i"},
            ],
            "volumes": [EMPTY],
        },
        {
            "containers": [{"name": "one", "image": "i", "volumeMounts": OWN}],
            "volumes": [EMPTY],
        },
        {"volumes": [{"name": "kube-api-access-mine", "emptyDir": {}}]},
    ],
)
def test_the_server_adds_what_we_say(admitting: KubeServer, spec: dict[str, Any]) -> None:
    given = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "web-", "namespace": "default"},
        "spec": {"containers": [{"name": "web", "image": "i"}], **spec},
    }
    declines = spec.get("serviceAccountName") == "declines"
    account = ServiceAccount(automount_service_account_token=False if declines else None)
    with admitting.connect() as connection:
        made = connection.create(f"{PATH}/pods", given)

    ours = with_token_volume(codec.decode(msgspec.json.encode(given), Pod), account)
    theirs = codec.decode(msgspec.json.encode(made), Pod)

    assert _shape(theirs) == _shape(ours)


def _shape(pod: Pod) -> list[Any]:
    """The volumes and mounts, with the name that each pod gets as ours."""
    volumes = [each for each in pod.spec.volumes if each.projected is not None]
    names = [each.name for each in pod.spec.volumes]
    mounts = [
        [(mount.name, mount.mount_path, mount.read_only) for mount in each.volume_mounts]
        for each in (*pod.spec.init_containers, *pod.spec.containers)
    ]
    text = msgspec.json.encode([volumes, names, mounts]).decode()
    found: list[Any] = msgspec.json.decode(
        re.sub(r"kube-api-access-[a-z0-9]{5}", ADDED_VOLUME, text)
    )
    return found
