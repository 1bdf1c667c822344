"""Writes of every sort, to compare what two servers tell the webhooks that see them.

Owns: the writes as data.  Must not know the servers, nor what is compared.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from tests.real.certificates import new_key
from tests.real.differential.script import (
    APPLY,
    APPS,
    CONFIG_MAPS,
    CORE,
    JSON_PATCH,
    PODS,
    STRATEGIC,
    Ask,
    delete,
    patch,
    post,
    put,
)
from tests.real.webhook_cases import pod
from tests.webhook_scenes import MUTATING, VALIDATING, Document, configuration

DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]},
        },
    },
}
GEARS = "/apis/hooks.example.org/v1/namespaces/<ns>/gears"
DEFINITION = {
    "metadata": {"name": "gears.hooks.example.org"},
    "spec": {
        "group": "hooks.example.org",
        "scope": "Namespaced",
        "names": {"plural": "gears", "kind": "Gear"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "default": 3},
                                    "replicas": {"type": "integer"},
                                },
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
            }
        ],
    },
}


def gear(**more: Any) -> Document:
    head = {"apiVersion": "hooks.example.org/v1", "kind": "Gear", "metadata": {"name": "g"}}
    return {**head, "spec": {"replicas": 1, "unknown": True}, **more}


SCALES = "managers-in-scales"
OF_SCALE = {
    "/body.0.object.metadata.managedFields": SCALES,
    "/body.0.oldObject.metadata.managedFields": SCALES,
}
PODS_GO = "webhooks-of-pods"
OF_POD = {
    "/body.0.options.gracePeriodSeconds": PODS_GO,
    "/body.1": PODS_GO,
    "/body.2": PODS_GO,
    "/body.3": PODS_GO,
}
APPLIED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
CONFIG_MAP = f"{CONFIG_MAPS}/c"
ONE_POD = f"{PODS}/p"
WEB = f"{APPS}/deployments/web"
KEY = new_key()
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def signing_request() -> Document:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(KEY, hashes.SHA256())
    pem = request.public_bytes(serialization.Encoding.PEM)
    return {
        "metadata": {"name": "of-<ns>"},
        "spec": {
            "request": base64.b64encode(pem).decode(),
            "signerName": "example.org/signer",
            "usages": ["client auth"],
        },
    }


@dataclass(frozen=True, slots=True)
class Writes:
    """Writes that every webhook sees, in their order."""

    name: str
    asks: tuple[Ask, ...]
    differs: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


WRITES = (
    Writes(
        "config maps",
        (
            post(
                f"{CONFIG_MAPS}?fieldManager=me&fieldValidation=Strict",
                {"metadata": {"generateName": "made-"}},
            ),
            post(f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "c"}}),
            patch(f"{CONFIG_MAP}?fieldManager=m", {**APPLIED, "data": {"k": "v"}}, APPLY),
            patch(f"{CONFIG_MAP}?fieldManager=m", {**APPLIED, "data": {"k": "w"}}, APPLY),
            patch(CONFIG_MAP, {"data": {"more": "1"}}),
            patch(CONFIG_MAP, {"data": {"more": None}}, STRATEGIC),
            patch(CONFIG_MAP, [{"op": "add", "path": "/data/x", "value": "y"}], JSON_PATCH),
            patch(CONFIG_MAP, {}),
            put(
                f"{CONFIG_MAP}?fieldManager=putter", {"metadata": {"name": "c"}, "data": {"k": "x"}}
            ),
            put(f"{CONFIG_MAPS}/absent", {"metadata": {"name": "absent"}}),
            delete(f"{CONFIG_MAP}?dryRun=All"),
            delete(CONFIG_MAP, {"propagationPolicy": "Background", "gracePeriodSeconds": 5}),
            delete(CONFIG_MAPS),
            delete(f"{CONFIG_MAPS}/absent"),
        ),
    ),
    Writes(
        "pods",
        (
            post(PODS, {**pod("p"), "status": {"phase": "Running"}}),
            patch(f"{ONE_POD}/status", {"status": {"message": "x"}}),
            patch(ONE_POD, {"metadata": {"labels": {"a": "b"}}}),
            post(f"{ONE_POD}/binding", {"metadata": {"name": "p"}, "target": {"name": "n"}}),
            post(f"{ONE_POD}/eviction?dryRun=All", {"metadata": {"name": "p"}}),
            post(f"{ONE_POD}/eviction", {"metadata": {"name": "other"}}),
            post(PODS, pod("q")),
            delete(f"{PODS}/q"),
        ),
        {8: OF_POD},
    ),
    Writes(
        "other kinds of the core group",
        (
            post(f"{CORE}/secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}}),
            patch(f"{CORE}/secrets/s", {"stringData": {"c": "d"}}),
            post(
                f"{CORE}/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
            ),
            patch(f"{CORE}/services/s", {"spec": {"type": "NodePort"}}),
            put(f"{CORE}/endpoints/s", {"metadata": {"name": "s"}}),
            post(f"{CORE}/serviceaccounts", {"metadata": {"name": "x"}}),
            post(f"{CORE}/serviceaccounts/x/token", {}),
            patch(CORE, {"metadata": {"labels": {"a": "b"}}}),
            patch(f"{CORE}/status", {"status": {"phase": "Active"}}),
            delete(CORE),
        ),
    ),
    Writes(
        "scales",
        (
            post(f"{APPS}/deployments", DEPLOYMENT),
            patch(f"{WEB}/scale", {"spec": {"replicas": 3}}),
            patch(f"{WEB}/status", {"status": {"replicas": 1}}),
            delete(WEB, {"preconditions": {"uid": "wrong"}}),
            delete(WEB, {"orphanDependents": False}),
        ),
        {2: OF_SCALE},
    ),
    Writes(
        "what configures webhooks",
        tuple(
            ask
            for path in (MUTATING, VALIDATING)
            for ask in (
                post(path, configuration("of-<ns>")),
                patch(f"{path}/of-<ns>", {"metadata": {"labels": {"a": "b"}}}),
                delete(f"{path}/of-<ns>"),
            )
        ),
    ),
    Writes(
        "certificate requests",
        (
            post(CSRS, signing_request()),
            put(
                f"{CSRS}/of-<ns>/approval",
                {
                    **signing_request(),
                    "status": {
                        "conditions": [{"type": "Approved", "status": "True", "reason": "R"}]
                    },
                },
            ),
        ),
    ),
    Writes(
        "reviews",
        (
            post(
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
            ),
        ),
    ),
    Writes(
        "custom kinds",
        (
            post(GEARS, gear(status={"replicas": 5})),
            patch(f"{GEARS}/g", {"spec": {"size": 5}}),
            patch(f"{GEARS}/g/status", {"status": {"replicas": 2}}),
            patch(f"{GEARS}/g/scale", {"spec": {"replicas": 4}}),
            patch(f"{GEARS}/g?fieldManager=m&force=true", {**gear(spec={"size": 6})}, APPLY),
            delete(f"{GEARS}/g"),
        ),
        {4: OF_SCALE},
    ),
)
