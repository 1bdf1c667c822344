from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.ingresses import (
    check_ingress,
    check_ingress_status,
    check_ingress_update,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of

BACKEND: dict[str, Any] = {"service": {"name": "web", "port": {"number": 80}}}
BUCKET = {"kind": "Bucket", "name": "b"}


def ingress(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    body = {"metadata": {"name": "x", "annotations": annotations}, "spec": spec}
    return created(kind_of("ingresses", "networking.k8s.io"), body)


def routed(host: str = "", **path: Any) -> dict[str, Any]:
    usual = {"path": "/", "pathType": "Prefix", "backend": BACKEND}
    return ingress(rules=[{"host": host, "http": {"paths": [usual | path]}}])


def wrong_with(document: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_ingress(document, errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "document",
    [
        ingress(defaultBackend=BACKEND),
        ingress(defaultBackend={"resource": BUCKET}),
        ingress(defaultBackend={"service": {"name": "1-web", "port": {"name": "http"}}}),
        ingress(rules=[{"host": "only.a.host"}]),
        routed("*.example.com"),
        routed(pathType="ImplementationSpecific", path=""),
        routed(pathType="ImplementationSpecific", path="/a//b/.."),
        ingress(defaultBackend=BACKEND, tls=[{}, {"hosts": ["a.b", "*.c.d"], "secretName": "s"}]),
        ingress({"kubernetes.io/ingress.class": "a"}, defaultBackend=BACKEND),
    ],
)
def test_usual_ingresses_are_fine(document: dict[str, Any]) -> None:
    assert wrong_with(document) == []


HTTP = "spec.rules[0].http.paths[0]"


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        (
            ingress(tls=[{}]),
            "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified",
        ),
        (
            ingress(defaultBackend={}),
            'spec.defaultBackend: Invalid value: "": resource or service backend is required',
        ),
        (
            ingress(defaultBackend=BACKEND | {"resource": BUCKET}),
            'spec.defaultBackend: Invalid value: "": cannot set both resource and service backends',
        ),
        (
            ingress(defaultBackend={"service": {"name": "a"}}),
            "spec.defaultBackend: Required value: port name or number is required",
        ),
        (
            ingress(defaultBackend={"service": {"port": {"number": 1}}}),
            "spec.defaultBackend.service.name: Required value",
        ),
        (
            ingress(defaultBackend={"service": {"name": "a", "port": {"name": "a", "number": 1}}}),
            'spec.defaultBackend: Invalid value: "": cannot set both port name & port number',
        ),
        (
            ingress(defaultBackend={"resource": {"name": "b"}}),
            "spec.defaultBackend.resource.kind: Required value",
        ),
        (
            ingress({"kubernetes.io/ingress.class": "a"}, defaultBackend=BACKEND)
            | {"spec": {"defaultBackend": BACKEND, "ingressClassName": "b"}},
            (
                'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match '
                "`ingressClassName` when both are specified"
            ),
        ),
        (
            routed("10.0.0.1"),
            (
                'spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP '
                "address"
            ),
        ),
        (ingress(rules=[{"http": {}}]), "spec.rules[0].http.paths: Required value"),
        (routed(pathType=None), f"{HTTP}.pathType: Required value: pathType must be specified"),
        (
            routed(pathType="Prefx"),
            (
                f'{HTTP}.pathType: Unsupported value: "Prefx": supported values: "Exact", '
                '"ImplementationSpecific", "Prefix"'
            ),
        ),
        (routed(path="a"), f'{HTTP}.path: Invalid value: "a": must be an absolute path'),
        (
            routed(pathType="ImplementationSpecific", path="a"),
            f'{HTTP}.path: Invalid value: "a": must be an absolute path',
        ),
        (routed(path="/a//b"), f"{HTTP}.path: Invalid value: \"/a//b\": must not contain '//'"),
        (
            routed(pathType="Exact", path="/a/.."),
            f"{HTTP}.path: Invalid value: \"/a/..\": cannot end with '/..'",
        ),
    ],
)
def test_ingresses_have_their_rules(document: dict[str, Any], wrong: str) -> None:
    assert wrong_with(document) == [wrong]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"ingressClassName": "A_"}, "spec.ingressClassName"),
        ({"tls": [{"secretName": "A_"}]}, "spec.tls[0].secretName"),
        ({"tls": [{"hosts": ["a", "*"]}]}, "spec.tls[0].hosts[1]"),
        ({"rules": [{"host": "*b.c"}]}, "spec.rules[0].host"),
    ],
)
def test_names_in_ingresses_are_names(spec: dict[str, Any], field: str) -> None:
    found = wrong_with(ingress(defaultBackend=BACKEND, **spec))

    assert [complaint.partition(":")[0] for complaint in found] == [field]


def updated(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_ingress_update(new, old, errors)
    return [complaint.partition(":")[0] for complaint in complaints(errors)]


def test_an_update_keeps_the_rules_but_does_not_compare_the_classes() -> None:
    old = ingress(defaultBackend=BACKEND)
    classes = ingress(
        {"kubernetes.io/ingress.class": "a"}, defaultBackend=BACKEND, ingressClassName="b"
    )

    assert updated(old, classes) == []
    assert updated(old, ingress()) == ["spec"]


def test_wrong_secrets_and_wildcard_rules_may_stay() -> None:
    secret = ingress(defaultBackend=BACKEND, tls=[{"secretName": "A_"}])
    wildcard = routed("*.a.b", path="x")
    good = ingress(defaultBackend=BACKEND)

    assert updated(secret, secret) == []
    assert updated(good, secret) == ["spec.tls[0].secretName"]
    assert updated(wildcard, wildcard) == []
    assert updated(good, wildcard) == [f"{HTTP}.path"]
    newer = routed("*.a.b", backend={"service": {"name": "1-web", "port": {"number": 80}}})
    assert updated(newer, wildcard) == []


def test_the_points_of_a_status_are_addresses_and_names_unless_they_were_there() -> None:
    def status(*points: dict[str, str]) -> dict[str, Any]:
        return {"status": {"loadBalancer": {"ingress": list(points)}}}

    errors = FieldErrors()
    check_ingress_status(
        status({"ip": "01.2.3.4"}, {"ip": "1.2.3.04"}, {"hostname": "1.2.3.4"}),
        status({"ip": "01.2.3.4"}),
        errors,
    )

    assert complaints(errors) == [
        'status.loadBalancer.ingress[1].ip: Invalid value: "1.2.3.04": must not have leading 0s',
        (
            'status.loadBalancer.ingress[2].hostname: Invalid value: "1.2.3.4": must be a DNS '
            "name, not an IP address"
        ),
    ]
