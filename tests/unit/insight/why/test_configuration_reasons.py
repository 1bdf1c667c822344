"""What in its configuration keeps a pod from starting."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Event
from reflet.api.meta import ObjectMeta, ObjectReference
from reflet.errors import Forbidden
from reflet.insight.why.configuration_reasons import (
    ConfigurationReport,
    Misconfiguration,
    configuration_of,
)
from reflet.insight.why.reasons import ObjectName, Sighting
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs, RefusedObject
from tests.unit.resolution.scenes import config_map, pod_with, secret, variable

CANARY = "canary-hush-hush"


def key_of(name: str, key: str, **more: Any) -> dict[str, Any]:
    return variable(key.upper(), configMapKeyRef={"name": name, "key": key, **more})


def of_volume(**source: Any) -> dict[str, Any]:
    return {"name": "conf", "configMap": {"name": "settings", "defaultMode": 420, **source}}


POD = ObjectName(kind="Pod", namespace="shop", name="web-0")


def reported(pod: Pod, *objects: Any, **more: Any) -> ConfigurationReport:
    return configuration_of(PodInputs(pod=pod, objects=ObjectsInHand(objects), **more), POD)


def only(report: ConfigurationReport) -> tuple[Sighting, Misconfiguration]:
    (sighting,) = report.found
    assert isinstance(sighting.reason, Misconfiguration)
    return sighting, sighting.reason


def waiting(reason: str, message: str, container: str = "web") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"name": container, "state": state}]}


def warning(reason: str, message: str) -> Event:
    return Event(
        metadata=ObjectMeta(namespace="shop"),
        involved_object=ObjectReference(kind="Pod", name="web-0"),
        reason=reason,
        message=message,
        type="Warning",
    )


def test_a_healthy_pod_has_no_reasons() -> None:
    pod = pod_with({"env": [key_of("settings", "color")]})

    assert reported(pod, config_map(color="blue")) == ConfigurationReport()


def test_a_missing_key_comes_with_the_kubelets_words_and_where_it_says_them() -> None:
    pod = pod_with({"env": [key_of("settings", "color")]})

    sighting, reason = only(reported(pod, config_map(colour="blue")))

    assert reason.message == "ConfigMap shop/settings has no key color; it has colour"
    assert reason.kubelet == "couldn't find key color in ConfigMap shop/settings"
    assert str(reason.shown_as) == "container waiting CreateContainerConfigError"
    assert sighting.fix.startswith("did you mean colour?")
    assert reason.stops
    assert reason.certain


def test_a_volume_that_cannot_be_mounted_shows_in_an_event() -> None:
    pod = pod_with(volumes=[of_volume()])

    _, reason = only(reported(pod))

    assert str(reason.shown_as) == "event FailedMount"


def test_one_reason_is_told_once_with_all_its_places() -> None:
    pod = pod_with(
        {"env": [key_of("gone", "a"), key_of("gone", "b")]},
        initContainers=[{"name": "first", "env": [key_of("gone", "c")]}],
    )

    sighting, _ = only(reported(pod))

    assert [str(place) for place in sighting.places] == [
        "container first, variable C",
        "container web, variable A",
        "container web, variable B",
    ]
    assert sighting.fix == "create ConfigMap gone in namespace shop with keys c, a, b"


def test_what_stops_the_pod_comes_before_what_only_misleads() -> None:
    pod = pod_with(
        {"env": [{"name": "A", "value": "$(B)"}, {"name": "B", "value": "1"}]},
        volumes=[of_volume()],
    )

    reasons = [each.reason for each in reported(pod).found]

    assert [(reason.type, reason.stops) for reason in reasons] == [
        ("MissingObject", True),
        ("UnresolvedReference", False),
    ]
    assert reasons[1].effect == "the container starts, but not as it was meant to"


def test_optional_absence_is_no_reason() -> None:
    pod = pod_with({"env": [key_of("gone", "a", optional=True)]})

    assert reported(pod).found == ()


@pytest.mark.parametrize("value", ["a\0b", "x" * 140_000])
def test_what_the_runtime_refuses_stops_the_pod_too(value: str) -> None:
    pod = pod_with({"env": [key_of("settings", "a")]})

    _, reason = only(reported(pod, config_map(a=value)))

    assert reason.stops
    assert reason.shown_as.reason == "RunContainerError"


def test_older_kubelets_skip_names_and_send_an_event() -> None:
    pod = pod_with({"envFrom": [{"configMapRef": {"name": "settings"}}]})

    _, reason = only(reported(pod, config_map(**{"1a": "x"}), skip_invalid_names=True))

    assert str(reason.shown_as) == "event InvalidEnvironmentVariableNames"
    assert reason.kubelet.startswith("Keys [1a] from the EnvFrom configMap shop/settings")
    assert not reason.stops


def test_an_object_that_was_refused_is_to_be_corrected() -> None:
    pod = pod_with(volumes=[of_volume()])
    refused = RefusedObject("a.yaml:3", "ConfigMap", "shop", "settings", "data[a b]: Invalid value")

    sighting, reason = only(reported(pod, refusals=(refused,)))

    assert reason.message.endswith("does not exist: the API server refuses it")
    assert sighting.fix == "correct it: a.yaml:3: data[a b]: Invalid value"


def test_a_reason_explains_what_the_kubelet_says_of_it() -> None:
    text = "couldn't find key color in ConfigMap shop/settings"
    pod = pod_with(
        {"env": [key_of("settings", "color")]},
        status=waiting("CreateContainerConfigError", text),
    )

    report = reported(pod, config_map(), events=[warning("Failed", f"Error: {text}")])

    sighting, _ = only(report)
    assert [signal.source for signal in sighting.explains] == ["container", "event"]
    assert report.unexplained == ()


def test_a_reason_of_one_container_explains_nothing_of_another() -> None:
    text = "couldn't find key color in ConfigMap shop/settings"
    pod = pod_with(
        {"env": [key_of("settings", "color")]},
        status=waiting("CreateContainerConfigError", text, "other"),
    )

    report = reported(pod, config_map())

    assert report.found[0].explains == ()
    assert len(report.unexplained) == 1


def test_a_failed_mount_is_explained_by_the_missing_object() -> None:
    pod = pod_with(volumes=[of_volume()], status={"phase": "Pending"})
    message = 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found'

    report = reported(pod, events=[warning("FailedMount", message)])

    assert [signal.message for signal in report.found[0].explains] == [message]


def test_what_configuration_cannot_cause_is_told_apart() -> None:
    pod = pod_with(status=waiting("ImagePullBackOff", "no such image"))

    report = reported(pod)

    assert report.found == ()
    assert [signal.from_elsewhere for signal in report.unexplained] == [True]


def test_a_missing_pull_secret_may_explain_a_failing_pull() -> None:
    pod = pod_with(
        imagePullSecrets=[{"name": "registry"}], status=waiting("ImagePullBackOff", "denied")
    )

    report = reported(pod)

    _, reason = only(report)
    assert reason.effect == "the image may not be pulled"
    assert reason.shown_as.reason == "FailedToRetrieveImagePullSecret"
    assert report.unexplained == ()


def test_an_old_complaint_of_something_corrected_is_not_explained() -> None:
    pod = pod_with(
        {"env": [key_of("settings", "color")]},
        status=waiting("CreateContainerConfigError", 'configmap "settings" not found'),
    )

    report = reported(pod, config_map(color="blue"))

    assert report.found == ()
    assert [signal.from_elsewhere for signal in report.unexplained] == [False]


FORBIDDEN = ObjectsInHand(
    failures={("ConfigMap", "shop", "settings"): Forbidden("alice cannot get configmaps")}
)


def test_what_we_may_not_read_is_an_uncertain_reason() -> None:
    pod = pod_with({"env": [key_of("settings", "color")]})

    _, reason = only(configuration_of(PodInputs(pod=pod, objects=FORBIDDEN), POD))

    assert not reason.certain
    assert "alice cannot get configmaps" in reason.message


def test_what_we_may_not_read_is_no_reason_once_the_container_has_started() -> None:
    started = {
        "phase": "Running",
        "containerStatuses": [{"name": "web", "ready": True, "state": {"running": {}}}],
    }
    pod = pod_with({"env": [key_of("settings", "color")]}, status=started)

    report = configuration_of(PodInputs(pod=pod, objects=FORBIDDEN), POD)

    assert report.found == ()
    assert [each.reason.type for each in report.unknown] == ["UnreadableObject"]


def test_a_pod_that_runs_may_still_not_start_again() -> None:
    started = {
        "phase": "Running",
        "containerStatuses": [{"name": "web", "ready": True, "state": {"running": {}}}],
    }
    pod = pod_with({"env": [key_of("gone", "color")]}, status=started)

    report = reported(pod)

    assert [(each.running, each.wrong) for each in report.found] == [(True, True)]


def test_no_value_appears_in_a_diagnosis() -> None:
    pod = pod_with(
        {
            "env": [
                variable("S", secretKeyRef={"name": "credentials", "key": "password"}),
                {"name": "A", "value": "$(S) $(NONE)"},
                variable("B", secretKeyRef={"name": "credentials", "key": "passwort"}),
            ]
        }
    )

    report = reported(pod, secret(password=CANARY.encode()))

    assert len(report.found) == 2
    assert CANARY not in repr(report)
