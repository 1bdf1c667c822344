from __future__ import annotations

from typing import Any

import pytest

from reflet.node.pods.admission import (
    Accounts,
    Allowance,
    RunAs,
    grants_of,
    left_out_of,
    refusals_of,
    refused_reason,
    root_refusal,
    run_as,
)
from tests.unit.node.pod_scenes import container, only, pod

NOBODY = RunAs(65534, 65534)
AS_ROOT = Allowance(own_user=0, own_group=0, default=NOBODY)
GENEROUS = Allowance(
    own_user=0,
    own_group=0,
    default=NOBODY,
    grants=grants_of(
        ["7-8", "5000-5999", "app"],
        ["3-9", "6000"],
        Accounts(users={"app": (900, 901)}, groups={"disk": 6, "docker": 5007}),
    ),
)
GIVING_ROOT = Allowance(own_user=0, own_group=0, default=RunAs(0, 0))
AS_USER = Allowance(own_user=1000, own_group=1000, own_groups=frozenset({1000, 20}))


def test_a_pod_with_a_command_and_nothing_else_may_run() -> None:
    assert refusals_of(pod(), AS_ROOT) == ()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"hostNetwork": True}, "spec.hostNetwork"),
        ({"hostPID": True}, "spec.hostPID"),
        ({"hostIPC": True}, "spec.hostIPC"),
        ({"runtimeClassName": "gvisor"}, "there is no runtime 'gvisor' here"),
        ({"securityContext": {"sysctls": [{"name": "a", "value": "b"}]}}, "sysctls"),
        ({"securityContext": {"fsGroup": 0}}, "spec.securityContext.fsGroup: group 0 is not given"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, "(v): only"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/etc"}}]}, "not below a path"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/srv/../etc"}}]}, "without '..'"),
    ],
)
def test_a_pod_that_asks_for_more_is_told_what_it_does_not_get(
    spec: dict[str, Any], words: str
) -> None:
    (refusal,) = refusals_of(pod(**spec), AS_ROOT)

    assert words in refusal


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"command": []}, "it has an image and no command"),
        ({"securityContext": {"privileged": True}}, "privileged"),
        ({"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}, "NET_ADMIN"),
        ({"securityContext": {"procMount": "Unmasked"}}, "procMount"),
        ({"securityContext": {"readOnlyRootFilesystem": True}}, "readOnlyRootFilesystem"),
        ({"securityContext": {"runAsUser": 0}}, "runAsUser 0"),
        ({"securityContext": {"runAsGroup": 0}}, "runAsGroup 0"),
        ({"volumeDevices": [{"name": "d", "devicePath": "/dev/x"}]}, "block devices"),
    ],
)
def test_a_container_that_asks_for_more_is_told_what_it_does_not_get(
    fields: dict[str, Any], words: str
) -> None:
    (refusal,) = refusals_of(pod(container(**fields)), AS_ROOT)

    assert words in refusal


def test_everything_that_is_wrong_is_said_at_once() -> None:
    wrong = pod(container(command=[]), hostNetwork=True, hostPID=True)

    assert len(refusals_of(wrong, AS_ROOT)) == 3


def test_capabilities_may_be_dropped() -> None:
    fields: dict[str, Any] = {"securityContext": {"capabilities": {"drop": ["ALL"]}}}

    assert refusals_of(pod(container(**fields)), AS_ROOT) == ()


def test_a_path_of_the_host_may_lie_below_one_that_is_allowed() -> None:
    allowed = Allowance(default=NOBODY, host_paths=("/srv/data",))
    volume = {"name": "v", "hostPath": {"path": "/srv/data/web"}}
    beside = {"name": "v", "hostPath": {"path": "/srv/database"}}

    assert refusals_of(pod(volumes=[volume]), allowed) == ()
    assert len(refusals_of(pod(volumes=[beside]), allowed)) == 1


def test_only_the_namespaces_of_the_agent_are_served() -> None:
    assert refusals_of(pod(), Allowance(default=NOBODY, namespaces=frozenset({"shop"}))) == ()
    assert refusals_of(pod(), Allowance(default=NOBODY, namespaces=frozenset({"yard"}))) == (
        "namespace shop is not among those of this agent: yard",
    )


def test_root_is_given_only_where_it_was_said() -> None:
    asking = pod(container(securityContext={"runAsUser": 0, "runAsGroup": 0}))

    assert refusals_of(asking, GIVING_ROOT) == ()
    assert len(refusals_of(asking, AS_ROOT)) == 1


def test_an_agent_that_is_not_root_gives_only_what_it_is() -> None:
    same = pod(container(securityContext={"runAsUser": 1000, "runAsGroup": 20}))
    other = pod(container(securityContext={"runAsUser": 1001, "runAsGroup": 21}))

    assert refusals_of(same, AS_USER) == ()
    assert len(refusals_of(other, AS_USER)) == 1


def test_a_containers_own_user_comes_before_the_pods_and_the_agents() -> None:
    both = pod(
        container(securityContext={"runAsUser": 7}),
        securityContext={"runAsUser": 8, "runAsGroup": 9, "supplementalGroups": [3], "fsGroup": 4},
    )

    assert run_as(both, only(both), GENEROUS) == RunAs(7, 9, (3, 4))
    assert refusals_of(both, GENEROUS) == ()
    assert run_as(pod(), only(pod()), GENEROUS) == NOBODY


def test_a_user_without_a_group_does_not_keep_the_agents_group() -> None:
    asking = pod(container(securityContext={"runAsUser": 7}))

    assert run_as(asking, only(asking), GENEROUS).group == 7


@pytest.mark.parametrize(("user", "group"), [(900, 901), (5001, 5001), (7, 7), (50, 60)])
def test_a_user_has_the_group_that_comes_with_it(user: int, group: int) -> None:
    allowance = Allowance(default=RunAs(50, 60), grants=GENEROUS.grants)
    asking = pod(container(securityContext={"runAsUser": user}))

    assert run_as(asking, only(asking), allowance) == RunAs(user, group)
    assert refusals_of(asking, allowance) == ()


@pytest.mark.parametrize(
    ("spec", "where", "flag"),
    [
        (
            {"supplementalGroups": [42, 42]},
            "spec.securityContext.supplementalGroups: group 42",
            "--allow-groups 42",
        ),
        (
            {"supplementalGroups": [6]},
            "spec.securityContext.supplementalGroups: group 6",
            "--allow-groups 6",
        ),
        ({"fsGroup": 42}, "spec.securityContext.fsGroup: group 42", "--allow-groups 42"),
        ({"runAsUser": 6001}, "spec.containers[0] (main): runAsUser 6001", "--allow-users 6001"),
        ({"runAsGroup": 42}, "spec.containers[0] (main): runAsGroup 42", "--allow-groups 42"),
        ({"runAsUser": 0}, "spec.containers[0] (main): runAsUser 0", "--user root"),
    ],
)
def test_root_gives_only_whom_the_flags_name_and_says_which_flag_would(
    spec: dict[str, Any], where: str, flag: str
) -> None:
    assert refusals_of(pod(securityContext=spec), GENEROUS) == (
        f"{where} is not given here: {flag} would allow it",
    )


def test_a_user_in_a_range_does_not_bring_a_group_of_the_machine() -> None:
    (refusal,) = refusals_of(pod(securityContext={"runAsUser": 5007}), GENEROUS)

    assert refusal == (
        "spec.containers[0] (main): runAsUser 5007 comes with group 5007, which is not given "
        "here: say another runAsGroup, or --allow-groups 5007 would allow it"
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"supplementalGroups": [42]},
        {"supplementalGroups": [6]},
        {"supplementalGroups": [5001]},
        {"runAsUser": 5001},
        {"fsGroup": 5001},
        {"runAsGroup": 5001},
    ],
)
@pytest.mark.parametrize("default", [NOBODY, RunAs(0, 0)])
def test_without_a_flag_root_gives_nobody_but_its_own_choice(
    spec: dict[str, Any], default: RunAs
) -> None:
    (refusal,) = refusals_of(pod(securityContext=spec), Allowance(default=default))

    assert "would allow it" in refusal


def test_an_agent_that_is_not_root_names_no_flag_that_would_not_help() -> None:
    (refusal,) = refusals_of(pod(securityContext={"fsGroup": 42}), AS_USER)

    assert refusal == (
        "spec.securityContext.fsGroup: group 42 is not given here: "
        "the agent is not root and gives only its own"
    )


def test_a_container_that_must_not_be_root_and_would_be_is_not_started() -> None:
    asking = pod(container(securityContext={"runAsNonRoot": True}))
    who = run_as(asking, only(asking), GIVING_ROOT)

    assert root_refusal(asking, only(asking), who, GIVING_ROOT) is not None
    assert root_refusal(asking, only(asking), NOBODY, AS_ROOT) is None


def test_what_a_pod_does_without_is_told_and_does_not_stop_it() -> None:
    asking = pod(
        container(
            lifecycle={"stopSignal": "SIGUSR1"},
            resources={"limits": {"memory": "1Mi"}},
            tty=True,
        )
    )

    assert refusals_of(asking, AS_ROOT) == ()
    assert len(left_out_of(asking, AS_ROOT)) == 3
    assert left_out_of(pod(), AS_ROOT) == ()
    together = left_out_of(pod(shareProcessNamespace=True), AS_ROOT)
    assert together == ("the containers do not see each other's processes",)


def test_probes_and_hooks_are_nothing_that_a_pod_does_without() -> None:
    asking = pod(
        container(
            readinessProbe={"tcpSocket": {"port": 80}},
            lifecycle={"preStop": {"exec": {"command": ["true"]}}},
        )
    )

    assert left_out_of(asking, AS_ROOT) == ()


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"seLinuxOptions": {"level": "s0"}}, "spec.securityContext: se linux options"),
        ({"windowsOptions": {"hostProcess": True}}, "spec.securityContext: windows options"),
        (
            {"supplementalGroups": [0]},
            "spec.securityContext.supplementalGroups: group 0 is not given",
        ),
    ],
)
def test_a_pod_is_told_which_of_its_settings_cannot_be_kept(
    context: dict[str, Any], words: str
) -> None:
    (refusal,) = refusals_of(pod(securityContext=context), AS_ROOT)

    assert refusal.startswith(words)


@pytest.mark.parametrize(
    "context", [{"seLinuxOptions": {"level": "s0"}}, {"windowsOptions": {"hostProcess": True}}]
)
def test_a_container_is_told_too_and_so_is_an_init_container(context: dict[str, Any]) -> None:
    (refusal,) = refusals_of(
        pod(initContainers=[container("one", securityContext=context)]), AS_ROOT
    )

    assert refusal.startswith("spec.initContainers[0] (one): SELinux and Windows options")


@pytest.mark.parametrize("kind", ["configMap", "secret", "downwardAPI", "projected", "emptyDir"])
def test_a_volume_that_can_be_filled_is_given(kind: str) -> None:
    assert refusals_of(pod(volumes=[{"name": "v", kind: {}}]), AS_ROOT) == ()


@pytest.mark.parametrize("path", ["srv/data", "", "./srv/data"])
def test_a_path_of_the_host_that_is_not_absolute_is_never_allowed(path: str) -> None:
    everything = Allowance(default=NOBODY, host_paths=("/", "srv", "."))

    (refusal,) = refusals_of(pod(volumes=[{"name": "v", "hostPath": {"path": path}}]), everything)

    assert "is not an absolute path" in refusal


@pytest.mark.parametrize(
    ("allowance", "group", "is_given"),
    [
        (AS_ROOT, 65534, True),
        # Until ranges had to be named, a root agent gave every group but root's.
        (AS_ROOT, 7, False),
        (AS_ROOT, 0, False),
        (GENEROUS, 7, True),
        (GENEROUS, 6, False),
        (GENEROUS, 0, False),
        (GENEROUS, 6000, True),
        (GENEROUS, 5001, True),
        (GENEROUS, 5007, False),
        (GENEROUS, 901, True),
        (GENEROUS, 900, False),
        (Allowance(default=RunAs(7, 0)), 0, True),
        (GIVING_ROOT, 0, True),
        (AS_USER, 1000, True),
        (AS_USER, 20, True),
        (AS_USER, 21, False),
        (AS_USER, 0, False),
        (Allowance(own_user=1000, own_group=5), 5, True),
    ],
)
def test_a_group_is_given_by_those_who_may(
    allowance: Allowance, group: int, is_given: bool
) -> None:
    asking = pod(securityContext={"fsGroup": group})

    assert (refusals_of(asking, allowance) == ()) is is_given


def test_an_agent_that_is_not_root_never_gives_root() -> None:
    asking = pod(container(securityContext={"runAsUser": 0}))

    assert not AS_USER.gives_root
    assert len(refusals_of(asking, AS_USER)) == 1


@pytest.mark.parametrize(
    ("of_pod", "own", "is_refused"),
    [
        (None, None, False),
        (True, None, True),
        (True, False, False),
        (False, True, True),
        (None, True, True),
        (True, True, True),
    ],
)
def test_a_containers_own_word_about_root_comes_before_the_pods(
    of_pod: bool | None, own: bool | None, is_refused: bool
) -> None:
    asking = pod(
        container(securityContext={"runAsNonRoot": own}), securityContext={"runAsNonRoot": of_pod}
    )

    refusal = root_refusal(asking, only(asking), RunAs(0, 0), GIVING_ROOT)

    assert (refusal is not None) is is_refused


def test_a_container_that_is_whoever_the_agent_is_must_not_be_root_either() -> None:
    asking = pod(securityContext={"runAsNonRoot": True})

    assert root_refusal(asking, only(asking), RunAs(), GIVING_ROOT) is not None
    assert root_refusal(asking, only(asking), RunAs(), AS_USER) is None


def test_a_container_that_says_something_else_still_has_the_pods_user() -> None:
    both = pod(container(securityContext={"privileged": False}), securityContext={"runAsUser": 8})

    assert run_as(both, only(both), GENEROUS) == RunAs(8, 8)


@pytest.mark.parametrize(("user", "is_given"), [(1000, True), (1001, False)])
def test_an_agent_that_is_not_root_becomes_nobody_else(user: int, is_given: bool) -> None:
    asking = pod(container(securityContext={"runAsUser": user}))

    assert (refusals_of(asking, AS_USER) == ()) is is_given


# Real containers

WITH_IMAGES = Allowance(runs_images=True)


@pytest.mark.parametrize(
    "spec",
    [
        {"hostNetwork": True, "hostPID": True, "hostIPC": True},
        {"securityContext": {"runAsUser": 5, "fsGroup": 6, "seLinuxOptions": {"level": "s0"}}},
        {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]}},
        {"shareProcessNamespace": True},
    ],
)
def test_a_container_runtime_gives_what_a_kubelet_gives(spec: dict[str, Any]) -> None:
    asking = pod(
        {"name": "main", "image": "web", "securityContext": {"privileged": True}, "tty": True},
        **spec,
    )

    assert refusals_of(asking, WITH_IMAGES) == ()
    assert left_out_of(asking, WITH_IMAGES) == ()


@pytest.mark.parametrize(
    ("spec", "words", "reason"),
    [
        ({"hostUsers": False}, "spec.hostUsers", "UnexpectedAdmissionError"),
        (
            {"volumes": [{"name": "x", "hostPath": {"path": "/etc"}}]},
            "hostPath /etc",
            "UnexpectedAdmissionError",
        ),
        (
            {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
            'forbidden sysctl: "kernel.msgmax" not allowlisted',
            "SysctlForbidden",
        ),
    ],
)
def test_a_container_runtime_is_not_asked_for_what_nobody_gives(
    spec: dict[str, Any], words: str, reason: str
) -> None:
    (refusal,) = refusals_of(pod(**spec), WITH_IMAGES)

    assert words in refusal
    assert refused_reason(pod(**spec), WITH_IMAGES) == reason


def test_processes_refuse_under_their_own_name() -> None:
    assert refused_reason(pod(hostPID=True), AS_ROOT) == "ProcessRuntimeRefused"
