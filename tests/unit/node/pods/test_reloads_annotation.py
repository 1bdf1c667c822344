from __future__ import annotations

import signal

import pytest

from reflet.node.pods.reloads import FilesOnly, Reload, Restart, SendSignal, reload_of, users_of
from tests.unit.node.pod_scenes import container, pod


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", FilesOnly()),
        ("none", FilesOnly()),
        ("restart", Restart()),
        ("signal:HUP", SendSignal(signal.SIGHUP)),
        ("signal:usr1", SendSignal(signal.SIGUSR1)),
    ],
)
def test_a_pod_says_what_it_wants(text: str, wanted: Reload) -> None:
    annotated = pod(metadata={"annotations": {"reflet.dev/on-change": text}})

    assert reload_of(annotated) == wanted


@pytest.mark.parametrize("text", ["signal:NOISE", "reboot"])
def test_what_cannot_be_understood_changes_nothing_and_is_said(text: str) -> None:
    wanted = reload_of(pod(metadata={"annotations": {"reflet.dev/on-change": text}}))

    assert isinstance(wanted, FilesOnly)
    assert wanted.mistake.startswith("reflet.dev/on-change: ")


def test_a_change_concerns_those_who_mount_it_whole() -> None:
    both = pod(
        container("whole", volumeMounts=[{"name": "conf", "mountPath": "/a"}]),
        container("part", volumeMounts=[{"name": "conf", "mountPath": "/a", "subPath": "x"}]),
        container("other"),
    )

    assert users_of(both, {"conf"}) == ("whole",)


def test_what_is_no_signal_is_not_taken_for_one() -> None:
    wanted = reload_of(pod(metadata={"annotations": {"reflet.dev/on-change": "sig:HUP"}}))

    assert wanted == FilesOnly(
        "reflet.dev/on-change: 'sig:HUP' is none of none, restart and signal:NAME"
    )


def test_a_change_does_not_concern_those_who_mount_something_else() -> None:
    other = pod(container(volumeMounts=[{"name": "data", "mountPath": "/a"}]))

    assert users_of(other, {"conf"}) == ()


def test_a_part_that_is_named_by_a_variable_never_shows_a_change_either() -> None:
    part = pod(container(volumeMounts=[{"name": "conf", "mountPath": "/a", "subPathExpr": "$(A)"}]))

    assert users_of(part, {"conf"}) == ()


def test_one_whole_mount_beside_a_part_is_enough_and_sidecars_count_too() -> None:
    whole, part = {"name": "conf", "mountPath": "/a"}, {"name": "conf", "mountPath": "/b"}
    both = [{**part, "subPath": "x"}, whole]

    assert users_of(pod(initContainers=[container("proxy", volumeMounts=both)]), {"conf"}) == (
        "proxy",
    )
