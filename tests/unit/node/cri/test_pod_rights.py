from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.cri.messages.images import Image
from reflet.cri.messages.isolation import (
    Capability,
    Int64Value,
    NamespaceMode,
    ProfileType,
    SecurityProfile,
    SELinuxOption,
    SupplementalGroupsPolicy,
)
from reflet.node.cri.pod_rights import (
    MASKED_PATHS,
    container_rights,
    namespaces_of,
    sandbox_rights,
    user_refusal,
)
from tests.unit.node.pod_scenes import container, only, pod

PROFILES = Path("/profiles")
POD, CONTAINER, NODE = NamespaceMode.POD, NamespaceMode.CONTAINER, NamespaceMode.NODE


@pytest.mark.parametrize(
    ("spec", "modes"),
    [
        ({}, (POD, CONTAINER, POD)),
        ({"shareProcessNamespace": True}, (POD, POD, POD)),
        ({"hostNetwork": True, "hostPID": True, "hostIPC": True}, (NODE, NODE, NODE)),
    ],
)
def test_namespaces_are_a_pods_own_unless_it_says_otherwise(
    spec: dict[str, Any], modes: tuple[NamespaceMode, ...]
) -> None:
    found = namespaces_of(pod(**spec))

    assert (found.network, found.pid, found.ipc) == modes


def rights(own: dict[str, Any], context: dict[str, Any] | None = None, **image: Any) -> Any:
    of = pod(container(securityContext=own), securityContext=context or {})
    return container_rights(of, only(of), Image(**image), profiles=PROFILES)


def test_a_containers_own_context_comes_before_the_pods_and_that_before_the_images() -> None:
    own = {"runAsUser": 1}
    context = {"runAsUser": 2, "runAsGroup": 3, "fsGroup": 4, "supplementalGroups": [5]}
    uid = Int64Value(value=6)

    both = rights(own, context, uid=uid)

    assert (both.run_as_user, both.run_as_group) == (Int64Value(value=1), Int64Value(value=3))
    assert both.supplemental_groups == (4, 5)
    assert rights({}, context, uid=uid).run_as_user == Int64Value(value=2)
    assert rights({}, uid=uid).run_as_user == uid
    assert rights({}).run_as_user is None


def test_what_is_asked_for_is_passed_on() -> None:
    found = rights(
        {
            "privileged": True,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
            "seLinuxOptions": {"level": "s0"},
            "appArmorProfile": {"type": "Localhost", "localhostProfile": "mine"},
        },
        {"supplementalGroupsPolicy": "Strict"},
    )

    assert (found.privileged, found.readonly_rootfs, found.no_new_privs) == (True, True, True)
    assert found.capabilities == Capability(
        add_capabilities=("NET_ADMIN",), drop_capabilities=("ALL",)
    )
    assert found.selinux_options == SELinuxOption(level="s0")
    assert found.apparmor == SecurityProfile(
        profile_type=ProfileType.LOCALHOST, localhost_ref="mine"
    )
    assert found.supplemental_groups_policy is SupplementalGroupsPolicy.STRICT


@pytest.mark.parametrize(
    ("profile", "kind", "place"),
    [
        ({}, ProfileType.UNCONFINED, ""),
        ({"type": "Unconfined"}, ProfileType.UNCONFINED, ""),
        ({"type": "RuntimeDefault"}, ProfileType.RUNTIME_DEFAULT, ""),
        (
            {"type": "Localhost", "localhostProfile": "a/b.json"},
            ProfileType.LOCALHOST,
            "/profiles/a/b.json",
        ),
    ],
)
def test_seccomp_is_what_the_kubelet_makes_of_it(
    profile: dict[str, str], kind: ProfileType, place: str
) -> None:
    found = rights({}, {"seccompProfile": profile})

    assert found.seccomp == SecurityProfile(profile_type=kind, localhost_ref=place)


def test_paths_of_the_kernel_are_masked_unless_the_container_is_to_see_them() -> None:
    assert rights({}).masked_paths == MASKED_PATHS
    assert rights({"procMount": "Unmasked"}).masked_paths == ()


def test_a_sandbox_is_privileged_when_one_of_its_containers_is() -> None:
    of = pod(container(), container("root", securityContext={"privileged": True}))

    assert sandbox_rights(of).privileged
    assert not sandbox_rights(pod()).privileged


def test_a_sandbox_has_the_users_and_groups_of_its_pod() -> None:
    found = sandbox_rights(pod(securityContext={"runAsUser": 7, "fsGroup": 8}))

    assert (found.run_as_user, found.supplemental_groups) == (Int64Value(value=7), (8,))


WHERE = '(pod: "web_shop(u1)", container: main)'


@pytest.mark.parametrize(
    ("context", "image", "words"),
    [
        ({}, {}, None),
        ({"runAsNonRoot": True, "runAsUser": 1}, {}, None),
        ({"runAsNonRoot": True}, {"uid": Int64Value(value=1)}, None),
        (
            {"runAsNonRoot": True, "runAsUser": 0},
            {},
            f"container's runAsUser breaks non-root policy {WHERE}",
        ),
        (
            {"runAsNonRoot": True},
            {"uid": Int64Value(value=0)},
            f"container has runAsNonRoot and image will run as root {WHERE}",
        ),
        (
            {"runAsNonRoot": True},
            {"username": "app"},
            (
                "container has runAsNonRoot and image has non-numeric user (app), cannot verify "
                f"user is non-root {WHERE}"
            ),
        ),
    ],
)
def test_who_must_not_be_root_is_refused_in_the_kubelets_words(
    context: dict[str, Any], image: dict[str, Any], words: str | None
) -> None:
    of = pod(container(securityContext=context))

    assert user_refusal(of, only(of), Image(**image)) == words


def test_an_image_that_names_no_user_is_one_that_runs_as_root() -> None:
    of = pod(container(securityContext={"runAsNonRoot": True}))

    refusal = user_refusal(of, only(of), Image(id="sha256:1"))

    assert refusal is not None
    assert refusal.startswith("container has runAsNonRoot and image will run as root")


@pytest.mark.parametrize(
    ("spec", "mode", "target"),
    [({}, NamespaceMode.TARGET, "c1"), ({"shareProcessNamespace": True}, POD, "")],
)
def test_a_container_sees_the_processes_of_its_target_unless_all_see_all(
    spec: dict[str, Any], mode: NamespaceMode, target: str
) -> None:
    of = pod(**spec)

    found = container_rights(of, only(of), Image(), profiles=PROFILES, target="c1")

    assert found.namespace_options is not None
    assert (found.namespace_options.pid, found.namespace_options.target_id) == (mode, target)
