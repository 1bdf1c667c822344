"""What reasons have in common."""

from __future__ import annotations

import pytest

from reflet.insight.why.reasons import ObjectName, Reason, ShownAs


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("Deployment", "deploy/web"),
        ("StatefulSet", "sts/web"),
        ("DaemonSet", "ds/web"),
        ("ReplicaSet", "rs/web"),
        ("ReplicationController", "rc/web"),
        ("CronJob", "cronjob/web"),
        ("Job", "job/web"),
        ("Pod", "pod/web"),
        ("Rollout", "rollout/web"),
    ],
)
def test_an_object_is_called_as_kubectl_takes_it(kind: str, text: str) -> None:
    name = ObjectName(kind=kind, namespace="shop", name="web")

    assert (str(name), name.in_namespace) == (text, "-n shop")


def test_a_reason_stops_and_is_certain_unless_it_says_otherwise() -> None:
    reason = Reason()

    assert (reason.type, reason.stops, reason.certain, reason.effect) == ("Reason", True, True, "")
    assert (reason.kubelet, reason.shown_as, reason.in_configuration) == ("", ShownAs(), False)


def test_each_reason_must_say_what_is_wrong_and_what_to_do() -> None:
    with pytest.raises(NotImplementedError):
        _ = Reason().message
    with pytest.raises(NotImplementedError):
        Reason().advice(ObjectName(kind="Pod"))
