from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.defaults.pods import pull_policy
from tests.unit.devserver.object_scene import created, kind_of, pod_body


def spec_of(**spec: Any) -> dict[str, Any]:
    made: dict[str, Any] = created(kind_of("pods"), pod_body(**spec))["spec"]
    return made


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.25", "IfNotPresent"),
        ("host:5000/nginx", "Always"),
        ("host:5000/a/nginx:1", "IfNotPresent"),
        (f"nginx@sha256:{'0' * 64}", "IfNotPresent"),
        (f"nginx:latest@sha256:{'0' * 64}", "Always"),
        ("nginx@sha256:0", "IfNotPresent"),
        ("0" * 64, "IfNotPresent"),
        ("[::1]:5000/nginx", "Always"),
        ("[ab]/nginx", "IfNotPresent"),
        ("Host/nginx", "Always"),
        ("Nginx", "IfNotPresent"),
        ("<image>", "IfNotPresent"),
        ("$(IMAGE)", "IfNotPresent"),
        ("a" * 247, "Always"),
        ("a" * 248, "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_an_image_without_a_lasting_tag_is_always_pulled(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_a_pod_has_its_usual_policies() -> None:
    spec = spec_of()

    assert (
        spec.items()
        >= {
            "restartPolicy": "Always",
            "dnsPolicy": "ClusterFirst",
            "terminationGracePeriodSeconds": 30,
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "enableServiceLinks": True,
        }.items()
    )


def test_a_container_says_why_it_ended_in_the_usual_file() -> None:
    (container,) = spec_of()["containers"]

    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert container["terminationMessagePolicy"] == "File"
    assert container["resources"] == {}


def test_what_may_be_used_is_asked_for() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}

    (container,) = spec_of(containers=[{"name": "a", "resources": resources}])["containers"]

    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


def test_probes_have_their_usual_numbers_and_keep_their_own() -> None:
    probe = {"httpGet": {"port": 80}, "periodSeconds": 3}

    (container,) = spec_of(containers=[{"name": "a", "livenessProbe": probe}])["containers"]

    assert container["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 3,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_volumes_have_their_usual_modes() -> None:
    volumes = spec_of(
        volumes=[
            {"name": "a", "configMap": {"name": "c"}},
            {"name": "b", "secret": {"secretName": "s", "defaultMode": 0}},
            {"name": "c"},
            {"name": "d", "hostPath": {"path": "/x"}},
        ]
    )["volumes"]

    assert [next(iter(v.items()))[0] for v in volumes] == ["name"] * 4
    assert volumes[0]["configMap"]["defaultMode"] == 420
    assert volumes[1]["secret"]["defaultMode"] == 0
    assert volumes[2]["emptyDir"] == {}
    assert volumes[3]["hostPath"]["type"] == ""


def test_ports_on_the_host_network_are_the_hosts() -> None:
    ports = [{"containerPort": 80}]

    (container,) = spec_of(hostNetwork=True, containers=[{"name": "a", "ports": ports}])[
        "containers"
    ]

    assert container["ports"] == [{"hostPort": 80, "containerPort": 80, "protocol": "TCP"}]


def test_both_names_of_the_service_account_agree() -> None:
    assert spec_of(serviceAccount="builder")["serviceAccountName"] == "builder"
