"""Why a container does not run, or is not ready: scenes as kubelets write them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.insight.why.scenes import (
    CONTAINER,
    JUST_NOW,
    crashing,
    diagnosed,
    only_reason,
    pod,
    running_status,
    waiting,
    warning,
)

NOT_FOUND = (
    'Back-off pulling image "example.com/web:1": ErrImagePull: rpc error: code = NotFound desc = '
    'failed to pull and unpack image "example.com/web:1": example.com/web:1: not found'
)
DENIED = (
    "failed to resolve reference: pull access denied, repository does not exist or may require "
    "authorization: authorization failed: no basic auth credentials"
)


@pytest.mark.parametrize(
    ("reason", "words", "why"),
    [
        ("ImagePullBackOff", NOT_FOUND, "the registry has no such image"),
        ("ErrImagePull", DENIED, "the registry does not allow it, or has no such image"),
        (
            "ErrImagePull",
            "dial tcp: lookup example.com: no such host",
            "the registry cannot be reached",
        ),
        (
            "ErrImagePull",
            "429 Too Many Requests - toomanyrequests: You have reached your pull rate limit",
            "the registry answers no more for now",
        ),
        (
            "ErrImageNeverPull",
            'Container image "example.com/web:1" is not present with pull policy of Never',
            "the node does not have it, and imagePullPolicy is Never",
        ),
        (
            "InvalidImageName",
            "couldn't parse image name: invalid reference format",
            "that is no name of an image",
        ),
    ],
)
def test_an_image_that_is_not_pulled(reason: str, words: str, why: str) -> None:
    found = only_reason(pod(status=waiting(reason, words)))

    assert found.reason.message == f"image example.com/web:1 is not pulled: {why}"
    assert not found.reason.in_configuration
    assert found.fix


def test_events_about_a_pull_are_explained_with_it() -> None:
    events = [
        warning("Failed", 'Failed to pull image "example.com/web:1": not found', field=CONTAINER),
        warning("Failed", "Error: ErrImagePull", field=CONTAINER),
        warning("BackOff", 'Back-off pulling image "example.com/web:1"', field=CONTAINER, count=9),
    ]

    diagnosis = diagnosed(pod(status=waiting("ImagePullBackOff", NOT_FOUND)), events=events)

    (found,) = diagnosis.reasons
    assert len(found.explains) == 4
    assert diagnosis.unexplained == ()


def test_an_event_about_a_pull_alone_says_little() -> None:
    event = warning("BackOff", 'Back-off pulling image "example.com/web:1"', field=CONTAINER)

    diagnosis = diagnosed(pod(status=waiting("ContainerCreating")), events=[event], now=None)

    assert diagnosis.reasons == ()
    assert len(diagnosis.unexplained) == 1


def test_an_image_that_would_run_as_root() -> None:
    words = (
        "container has runAsNonRoot and image will run as root "
        '(pod: "web-1_shop(u1)", container: web)'
    )

    found = only_reason(pod(status=waiting("CreateContainerConfigError", words)))

    assert found.reason.message == "container web has runAsNonRoot, and its image runs as root"


EXEC = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    'runc create failed: unable to start container process: exec: "serve": executable file not '
    "found in $PATH: unknown"
)


@pytest.mark.parametrize(
    "status",
    [
        waiting("RunContainerError", EXEC),
        crashing(128, "StartError", message=EXEC),
    ],
)
def test_a_command_that_the_image_does_not_have(status: dict[str, Any]) -> None:
    found = only_reason(pod(status=status))

    assert found.reason.message == (
        'the command of container web cannot be started: exec: "serve": executable file not found '
        "in $PATH: unknown"
    )


def test_a_container_that_is_not_created_for_another_reason() -> None:
    words = 'failed to reserve container name "web_web-1": name is reserved'

    found = only_reason(pod(status=waiting("CreateContainerError", words)))

    assert found.reason.message == (
        "container web is not started (CreateContainerError): failed to reserve container name "
        '"web_…": name is reserved'
    )
    assert found.fix == "kubectl describe pod/web-1 -n shop"


def test_a_complaint_about_configuration_that_is_so_no_more_has_no_reason() -> None:
    words = 'secret "db" not found'

    diagnosis = diagnosed(pod(status=waiting("CreateContainerConfigError", words)))

    assert diagnosis.reasons == ()
    assert [each.signal.message for each in diagnosis.unexplained] == [words]
    assert diagnosis.wrong


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (1, ""),
        (0, " (it ends, and its pod is to run on)"),
        (126, " (its command cannot be executed)"),
        (127, " (its command was not found)"),
        (137, " (SIGKILL: it was killed, by a probe, an eviction or for its memory)"),
        (139, " (SIGSEGV: it crashed)"),
        (143, " (SIGTERM: it was asked to end)"),
    ],
)
def test_a_container_that_crashes(code: int, meaning: str) -> None:
    event = warning(
        "BackOff",
        "Back-off restarting failed container web in pod web-1_shop(web-1)",
        field=CONTAINER,
    )

    diagnosis = diagnosed(pod(status=crashing(code)), events=[event])

    (found,) = diagnosis.reasons
    assert found.reason.message == (
        f"container web exits with code {code} again and again{meaning}"
    )
    assert found.fix == "read why: kubectl logs pod/web-1 -c web -n shop --previous"
    assert diagnosis.unexplained == ()


def test_a_container_that_uses_too_much_memory() -> None:
    limits = {"resources": {"limits": {"memory": "256Mi"}}}

    found = only_reason(pod(status=crashing(137, "OOMKilled"), container=limits))

    assert found.reason.message == (
        "container web is killed: it uses more memory than its limit of 256Mi"
    )
    assert found.fix.startswith("raise resources.limits.memory of container web")


def test_a_container_without_a_limit_that_uses_too_much_memory() -> None:
    found = only_reason(pod(status=crashing(137, "OOMKilled")))

    assert found.reason.message == (
        "container web is killed: it uses more memory than its node has"
    )


def test_an_init_container_that_fails_keeps_the_others_waiting() -> None:
    ended = {"terminated": {"exitCode": 3, "reason": "Error"}}
    status = {
        "phase": "Pending",
        "initContainerStatuses": [
            {
                "name": "migrate",
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": ended,
                "restartCount": 4,
            }
        ],
        "containerStatuses": [{"name": "web", "state": {"waiting": {"reason": "PodInitializing"}}}],
    }

    found = only_reason(
        pod(status=status, initContainers=[{"name": "migrate", "image": "example.com/web:1"}])
    )

    assert found.reason.message == (
        "init container migrate exits with code 3 again and again; the others wait for it"
    )
    assert found.fix.endswith("-c migrate -n shop --previous")


def test_a_readiness_probe_that_fails() -> None:
    words = "Readiness probe failed: HTTP probe failed with statuscode: 503"
    event = warning("Unhealthy", words, field=CONTAINER, count=40)

    found = only_reason(pod(status=running_status(ready=False)), events=[event])

    assert found.reason.message == (
        "the readiness probe of container web fails, so it is not ready"
    )
    assert [signal.message for signal in found.explains] == [words]


@pytest.mark.parametrize("probe", ["Liveness", "Startup"])
def test_a_probe_that_kills_is_the_reason_for_the_end(probe: str) -> None:
    words = f"{probe} probe failed: Get http://10.0.0.5:8080/live: context deadline exceeded"
    event = warning("Unhealthy", words, field=CONTAINER)

    diagnosis = diagnosed(pod(status=crashing(137)), events=[event])

    (found,) = diagnosis.reasons
    assert found.reason.message == (
        f"the {probe.lower()} probe of container web fails, so it is killed"
    )
    assert diagnosis.unexplained == ()


def test_a_container_that_crashes_by_itself_is_not_killed_by_its_probe() -> None:
    event = warning("Unhealthy", "Liveness probe failed: refused", field=CONTAINER)

    found = only_reason(pod(status=crashing(1)), events=[event])

    assert found.reason.message == "container web exits with code 1 again and again"


def test_a_container_that_is_not_ready_and_nobody_says_why() -> None:
    found = only_reason(pod(status=running_status(ready=False)))

    assert found.reason.message == "container web runs and is not ready; nothing says why"
    assert found.fix == "see its log: kubectl logs pod/web-1 -c web -n shop"


def test_a_container_that_has_just_started_is_not_wrong() -> None:
    diagnosis = diagnosed(pod(status=running_status(ready=False, started=JUST_NOW)))

    assert not diagnosis.wrong
    assert [dict(each.pods) for each in diagnosis.roots] == [{"starting": 1}]


def test_crashes_of_different_workloads_are_different_reasons() -> None:
    one, other = (
        pod(
            name,
            status=crashing(1),
            meta={
                "ownerReferences": [
                    {
                        "kind": "ReplicaSet",
                        "name": f"{name}-rs",
                        "uid": f"{name}-rs",
                        "controller": True,
                    }
                ]
            },
        )
        for name in ("a", "b")
    )

    assert len(diagnosed(one, other).reasons) == 2
