"""Flow control, API services and certificate requests that are accepted.

Owns: the manifests.  Must not know either server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.certificate_texts import CERTIFICATE, REQUEST
from tests.real.devserver_objects import Case, Manifest, cluster_case, manifest

FLOW: Final = "flowcontrol.apiserver.k8s.io/v1"
FLOW_SCHEMAS: Final = (FLOW, "flowschemas", "FlowSchema")
PRIORITY_LEVELS: Final = (FLOW, "prioritylevelconfigurations", "PriorityLevelConfiguration")
API_SERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
CERTIFICATE_REQUESTS: Final = (
    *("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest"),
)
SUBJECT: Final = {"kind": "User", "user": {"name": "nobody"}}
RESOURCES: Final = {
    "verbs": ["get"],
    "apiGroups": ["*"],
    "resources": ["*"],
    "namespaces": ["*"],
}
LEVEL: Final = {"priorityLevelConfiguration": {"name": "nothing"}}


def good_flows() -> Iterator[Case]:
    """Yield flow schemas, priority levels and API services."""
    rules = [{"subjects": [SUBJECT], "resourceRules": [RESOURCES]}]
    yield cluster_case("flow schema", *FLOW_SCHEMAS, spec={**LEVEL, "rules": rules})
    account = {"namespace": "nowhere", "name": "nobody"}
    everything = {"verbs": ["*"], "apiGroups": [""], "resources": ["nothings"]}
    yield cluster_case(
        "rich flow schema",
        *FLOW_SCHEMAS,
        spec={
            **LEVEL,
            "matchingPrecedence": 9000,
            "distinguisherMethod": {"type": "ByNamespace"},
            "rules": [
                {
                    "subjects": [
                        SUBJECT,
                        {"kind": "Group", "group": {"name": "nobodies"}},
                        {"kind": "ServiceAccount", "serviceAccount": account},
                    ],
                    "resourceRules": [
                        everything | {"clusterScope": True},
                        everything | {"namespaces": ["a", "b"]},
                    ],
                    "nonResourceRules": [
                        {"verbs": ["get", "watch"], "nonResourceURLs": ["/nowhere", "/no/*"]}
                    ],
                }
            ],
        },
    )
    queue = {"limitResponse": {"type": "Queue", "queuing": {}}}
    yield cluster_case(
        "limited priority level", *PRIORITY_LEVELS, spec={"type": "Limited", "limited": queue}
    )
    yield cluster_case("rich priority level", *PRIORITY_LEVELS, spec=queued_level())
    yield "remote API service", API_SERVICES, api_service(insecureSkipTLSVerify=True)
    service = {"name": "nobody", "namespace": "nowhere", "port": 8443}
    rich = api_service(service=service, caBundle=CERTIFICATE)
    yield "rich API service", API_SERVICES, rich
    yield "local API service", API_SERVICES, api_service(service=None)


def queued_level(**queuing: Any) -> Manifest:
    usual = {"queues": 128, "handSize": 6, "queueLengthLimit": 20}
    return {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 7,
            "lendablePercent": 25,
            "borrowingLimitPercent": 50,
            "limitResponse": {"type": "Queue", "queuing": usual | queuing},
        },
    }


def api_service(**spec: Any) -> Manifest:
    usual = {
        "group": "{namespace}.example.org",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 10,
        "service": {"name": "nobody", "namespace": "nowhere"},
    }
    made = {name: value for name, value in (usual | spec).items() if value is not None}
    name = "v1.{namespace}.example.org"
    return manifest("apiregistration.k8s.io/v1", "APIService", name=name, spec=made)


def good_certificate_requests() -> Iterator[Case]:
    """Yield certificate requests."""
    spec = {"request": REQUEST, "signerName": "example.com/signer", "usages": ["client auth"]}
    yield cluster_case("certificate request", *CERTIFICATE_REQUESTS, spec=spec)
    usages = ["digital signature", "key encipherment", "server auth", "s/mime"]
    yield cluster_case(
        "rich certificate request",
        *CERTIFICATE_REQUESTS,
        metadata={"labels": {"a": "b"}, "finalizers": ["example.com/keep"]},
        spec={
            "request": REQUEST,
            "signerName": "a.b.example.com/some.signer",
            "usages": usages,
            "expirationSeconds": 600,
            "username": "somebody-else",
            "groups": ["others"],
        },
    )
