from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reflet.cri.conversions import (
    CONTAINER_NAME_LABEL,
    RESTART_COUNT_ANNOTATION,
    container_status,
    ips_of,
    newest_first,
    pods_of,
    restart_count,
    sandbox_status,
)
from reflet.cri.messages.containers import (
    Container,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from reflet.cri.messages.images import ImageSpec
from reflet.cri.messages.sandboxes import (
    PodIP,
    PodSandbox,
    PodSandboxMetadata,
    PodSandboxNetworkStatus,
    PodSandboxState,
    PodSandboxStatus,
)
from reflet.pleg.runtime_status import (
    RuntimeContainer,
    RuntimeContainerStatus,
    RuntimePod,
    RuntimeSandbox,
    RuntimeState,
)
from tests.cri_scenes import container, labels, sandbox

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def after(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def test_a_pod_has_its_sandboxes_and_containers() -> None:
    pods = pods_of([sandbox("s1", "p")], [container("c1", "p", "web"), container("c2", "p", "log")])

    assert pods == [
        RuntimePod(
            uid="p",
            name="name-of-p",
            namespace="shop",
            containers=(
                RuntimeContainer("c1", "web", RuntimeState.RUNNING),
                RuntimeContainer("c2", "log", RuntimeState.RUNNING),
            ),
            sandboxes=(RuntimeContainer("s1", state=RuntimeState.RUNNING),),
        )
    ]


def test_pods_are_ordered_by_the_age_of_their_sandboxes() -> None:
    listed = [sandbox("a", "a", at=10), sandbox("b", "b", at=5), sandbox("c", "c", at=20)]

    assert [pod.uid for pod in pods_of(listed, [])] == ["c", "a", "b"]


def test_the_last_attempt_of_a_sandbox_comes_first_then_the_newest() -> None:
    listed = [
        sandbox("old", "p", at=30),
        sandbox("second", "p", at=20, attempt=1),
        sandbox("b", "p", at=10),
        sandbox("a", "p", at=10),
    ]

    (pod,) = pods_of(listed, [])

    assert [each.id for each in pod.sandboxes] == ["second", "old", "a", "b"]


def test_containers_are_ordered_by_age_then_by_id() -> None:
    listed = [container("b", "p", at=1), container("a", "p", at=1), container("c", "p", at=2)]

    (pod,) = pods_of([], listed)

    assert [each.id for each in pod.containers] == ["c", "a", "b"]


def test_a_container_whose_sandbox_is_gone_is_of_the_pod_that_its_labels_name() -> None:
    (pod,) = pods_of([], [container("c1", "p")])

    assert (pod.uid, pod.name, pod.namespace, pod.sandboxes) == ("p", "name-of-p", "shop", ())


def test_a_container_without_labels_is_where_its_sandbox_is() -> None:
    bare = Container(
        id="c1",
        pod_sandbox_id="s1",
        metadata=ContainerMetadata(name="web"),
        image=ImageSpec(image="busybox"),
    )

    (pod,) = pods_of([sandbox("s1", "p")], [bare])

    assert [each.id for each in pod.containers] == ["c1"]


def test_what_says_too_little_is_left_out() -> None:
    whose = PodSandboxMetadata(name="p", uid="p", namespace="shop")
    sandboxes = [PodSandbox(id="s1"), PodSandbox(metadata=whose)]
    containers = [
        Container(id="c1", labels=labels("p"), image=ImageSpec(image="busybox")),
        Container(id="c2", labels=labels("p"), metadata=ContainerMetadata(name="web")),
    ]

    assert pods_of(sandboxes, containers) == []


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (ContainerState.CREATED, RuntimeState.CREATED),
        (ContainerState.RUNNING, RuntimeState.RUNNING),
        (ContainerState.EXITED, RuntimeState.EXITED),
        (ContainerState.UNKNOWN, RuntimeState.UNKNOWN),
        (9, RuntimeState.UNKNOWN),
    ],
)
def test_each_state_of_a_container_has_its_own(state: ContainerState, expected: str) -> None:
    (pod,) = pods_of([], [container("c1", "p", state=state)])

    assert pod.containers[0].state == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (PodSandboxState.READY, RuntimeState.RUNNING),
        (PodSandboxState.NOTREADY, RuntimeState.EXITED),
        (9, RuntimeState.UNKNOWN),
    ],
)
def test_a_sandbox_that_is_ready_runs(state: PodSandboxState, expected: str) -> None:
    (pod,) = pods_of([sandbox("s1", "p", state=state)], [])

    assert pod.sandboxes[0].state == expected


def test_everything_about_a_container_that_ended_is_kept() -> None:
    status = ContainerStatus(
        id="c1",
        metadata=ContainerMetadata(name="cname", attempt=3),
        state=ContainerState.EXITED,
        created_at=327_000,
        started_at=999_000,
        finished_at=1_278_000,
        exit_code=121,
        reason="GotKilled",
        message="The container was killed",
        image=ImageSpec(image="fimage"),
        image_ref="fimage@sha256:1",
        image_id="sha256:2",
        labels={CONTAINER_NAME_LABEL: "web"},
        annotations={RESTART_COUNT_ANNOTATION: "7"},
    )

    assert container_status(status, message="goodbye") == RuntimeContainerStatus(
        id="c1",
        name="web",
        state=RuntimeState.EXITED,
        created_at=after(327),
        started_at=after(999),
        finished_at=after(1278),
        exit_code=121,
        reason="GotKilled",
        message="The container was killed: goodbye",
        restart_count=7,
        image="fimage",
        image_id="fimage@sha256:1",
    )


@pytest.mark.parametrize("text", ["", "many", "1.5"])
def test_a_restart_count_that_is_none_is_zero(text: str) -> None:
    assert restart_count({RESTART_COUNT_ANNOTATION: text}) == 0


def test_the_newest_status_comes_first() -> None:
    statuses = [RuntimeContainerStatus(id=str(at), created_at=after(at)) for at in (1, 3, 2)]

    assert [each.id for each in newest_first(statuses)] == ["3", "2", "1"]


def test_a_sandbox_is_ready_or_not() -> None:
    status = PodSandboxStatus(id="s1", state=PodSandboxState.NOTREADY, created_at=1000)

    assert sandbox_status(status) == RuntimeSandbox(id="s1", ready=False, created_at=after(1))


def network(*ips: str, state: PodSandboxState = PodSandboxState.READY) -> PodSandboxStatus:
    first, *others = ips or ("",)
    status = PodSandboxNetworkStatus(ip=first, additional_ips=tuple(PodIP(ip=ip) for ip in others))
    return PodSandboxStatus(id="s", state=state, network=status)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], ()),
        ([PodSandboxStatus(id="s")], ()),
        ([network()], ()),  # the node's own network
        ([network("10.0.0.1")], ("10.0.0.1",)),
        ([network("10.0.0.1", "fd00::1")], ("10.0.0.1", "fd00::1")),
        ([network("", "fd00::1")], ("fd00::1",)),
        ([network("nonsense", "fd00::1")], ()),
        ([network("10.0.0.1", "nonsense")], ()),
        ([network("10.0.0.1", state=PodSandboxState.NOTREADY)], ()),
        ([network("10.0.0.2"), network("10.0.0.1")], ("10.0.0.2",)),
        ([network("10.0.0.2", state=PodSandboxState.NOTREADY), network("10.0.0.1")], ()),
    ],
)
def test_addresses_are_those_of_the_newest_sandbox_while_it_is_ready(
    statuses: list[PodSandboxStatus], expected: tuple[str, ...]
) -> None:
    assert ips_of(statuses) == expected
