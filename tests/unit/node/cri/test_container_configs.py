from __future__ import annotations

from pathlib import Path
from typing import Any

from reflet.cri.messages.containers import ContainerConfig, KeyValue, Mount, MountPropagation
from reflet.cri.messages.images import Image
from reflet.node.cri.container_configs import (
    ContainerFiles,
    container_config,
    fingerprint_of,
    mounts_of,
)
from reflet.node.pods.container_mounts import MountSource
from tests.unit.node.pod_scenes import container, only, pod


def made(plan: ContainerFiles, **fields: Any) -> ContainerConfig:
    of = pod(container(**fields))
    return container_config(
        of,
        only(of),
        Image(id="sha256:abc"),
        plan,
        attempt=1,
        node="worker-1",
        memory=2**30,
        profiles=Path("/profiles"),
    )


def test_command_arguments_and_variables_are_those_of_the_pod_alone() -> None:
    config = made(
        ContainerFiles(variables={"A": "1", "B": "\udcff"}),
        command=["show", "$(A)"],
        args=["$(B)", "$(NONE)"],
        workingDir="/work",
        stdin=True,
        tty=True,
    )

    assert (config.command, config.args) == (("show", "1"), ("\udcff", "$(NONE)"))
    assert config.envs == (KeyValue(key="A", value=b"1"), KeyValue(key="B", value=b"\xff"))
    assert (config.working_dir, config.stdin, config.tty) == ("/work", True, True)
    assert config.image is not None
    assert (config.image.image, config.image.user_specified_image) == ("sha256:abc", "none")
    assert config.log_path == "main/1.log"
    assert config.metadata is not None
    assert config.metadata.attempt == 1


def mounts(plan: ContainerFiles, **fields: Any) -> list[tuple[str, str, bool]]:
    found = mounts_of(only(pod(container(**fields))), plan)
    return [(each.container_path, each.host_path, each.readonly) for each in found]


def test_volumes_hosts_file_and_last_word_are_mounted_outer_ones_first() -> None:
    plan = ContainerFiles(
        variables={},
        sources=(
            MountSource(Path("/v/inner"), "part", "data/inner", True),
            MountSource(Path("/v/data"), "", "data", False),
        ),
        hosts=Path("/pod/etc-hosts"),
        message=Path("/pod/message"),
        message_path="dev/termination-log",
    )

    assert mounts(plan) == [
        ("/data", "/v/data", False),
        ("/data/inner", "/v/inner/part", True),
        ("/etc/hosts", "/pod/etc-hosts", False),
        ("/dev/termination-log", "/pod/message", False),
    ]


def test_a_volume_at_etc_hosts_is_what_the_container_sees() -> None:
    source = MountSource(Path("/v/hosts"), "", "etc/hosts", True)
    plan = ContainerFiles(variables={}, sources=(source,), hosts=Path("/pod/etc-hosts"))

    assert mounts(plan) == [("/etc/hosts", "/v/hosts", True)]


def test_a_read_only_root_has_a_read_only_hosts_file() -> None:
    plan = ContainerFiles(variables={}, hosts=Path("/pod/etc-hosts"))

    found = mounts(plan, securityContext={"readOnlyRootFilesystem": True})

    assert found == [("/etc/hosts", "/pod/etc-hosts", True)]


def test_mounts_are_passed_on_when_the_pod_says_so() -> None:
    plan = ContainerFiles(variables={}, sources=(MountSource(Path("/v"), "", "v", False),))
    mount = {"name": "v", "mountPath": "/v/", "mountPropagation": "HostToContainer"}

    (found,) = mounts_of(only(pod(container(volumeMounts=[mount]))), plan)

    assert found == Mount(
        container_path="/v", host_path="/v", propagation=MountPropagation.HOST_TO_CONTAINER
    )


def test_another_image_makes_another_container_and_other_variables_do_not() -> None:
    first = only(pod(container(image="a")))

    assert fingerprint_of(first) != fingerprint_of(only(pod(container(image="b"))))
    same = only(pod(container(image="a", env=[{"name": "A", "value": "1"}])))
    assert fingerprint_of(first) == fingerprint_of(same)
