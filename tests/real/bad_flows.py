"""Flow control, API services and certificate requests that are refused for what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.certificate_texts import CERTIFICATE, CERTIFICATE_PEM, REQUEST, REQUEST_PEM, as_bytes
from tests.real.devserver_objects import Case, cluster_case, manifest
from tests.real.good_flows import (
    API_SERVICES,
    CERTIFICATE_REQUESTS,
    FLOW,
    FLOW_SCHEMAS,
    LEVEL,
    PRIORITY_LEVELS,
    RESOURCES,
    SUBJECT,
    api_service,
    queued_level,
)


def bad_flows() -> Iterator[Case]:
    """Yield flow schemas, priority levels, API services and certificate requests."""
    yield from _bad_schemas()
    yield from _bad_rules()
    yield from _bad_levels()
    yield from _bad_services()
    yield from _bad_requests()


def _bad_schemas() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return cluster_case(title, *FLOW_SCHEMAS, spec={**LEVEL, "rules": []} | spec)

    def mandatory(name: str, **spec: Any) -> Case:
        body = manifest(FLOW, "FlowSchema", name=name, spec={**LEVEL} | spec)
        return f"flow schema called {name} {len(spec)}", f"/apis/{FLOW}/flowschemas", body

    yield cluster_case("flow schema of nothing", *FLOW_SCHEMAS, spec={})
    yield cluster_case("flow schema without a spec", *FLOW_SCHEMAS, metadata={"name": "A_"})
    yield case("flow schema before all others", matchingPrecedence=1)
    yield case("flow schema before the first", matchingPrecedence=-1)
    yield case("flow schema after the last", matchingPrecedence=10001)
    yield case("flow schema of odd flows", distinguisherMethod={"type": "<x>"})
    yield case("flow schema of untold flows", distinguisherMethod={})
    yield case("flow schema of a bad level", priorityLevelConfiguration={"name": "A_"})
    yield mandatory("exempt")
    yield mandatory("exempt", matchingPrecedence=1)
    yield mandatory("catch-all", distinguisherMethod={"type": "ByUser"}, rules=[{}])
    account = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "s"}}
    rule = {"subjects": [account], "resourceRules": [RESOURCES]}
    rule |= {"nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/<x>"]}]}
    yield mandatory("catch-all", rules=[rule])


def _bad_rules() -> Iterator[Case]:
    def case(title: str, /, **rule: Any) -> Case:
        usual = {"subjects": [SUBJECT], "resourceRules": [RESOURCES]}
        return cluster_case(title, *FLOW_SCHEMAS, spec={**LEVEL, "rules": [usual | rule]})

    def resources(title: str, /, **fields: Any) -> Case:
        return case(title, resourceRules=[RESOURCES | fields])

    def urls(title: str, /, *paths: str, verbs: Any = ("*",)) -> Case:
        return case(title, nonResourceRules=[{"verbs": list(verbs), "nonResourceURLs": paths}])

    yield case("flow of nothing", subjects=[], resourceRules=[])
    yield case("flow of empty rules", resourceRules=[{}], nonResourceRules=[{}])
    everyone: Any = {"user": {}, "group": {}, "serviceAccount": {}}
    for kind in ("User", "Group", "ServiceAccount", "Robot"):
        yield case(f"flow of an unnamed {kind}", subjects=[everyone | {"kind": kind}])
        yield case(f"flow of a missing {kind}", subjects=[{"kind": kind}])
    account = {"name": "A_", "namespace": "A_"}
    subject = {"kind": "ServiceAccount", "serviceAccount": account}
    yield case("flow of a bad account", subjects=[subject])
    yield resources("flow of all and more verbs", verbs=["*", "get"])
    yield resources("flow of odd verbs", verbs=["get", "<x>"])
    yield resources("flow of all and more groups", apiGroups=["*", ""])
    yield resources("flow of all and more resources", resources=["*", "a"])
    yield resources("flow in all and more namespaces", namespaces=["*", "a"])
    yield resources("flow in bad namespaces", namespaces=["a", "A_"])
    yield resources("flow in no namespace", namespaces=[])
    yield urls("flow to all and more places", "*", "/a")
    yield urls("flow to bad places", "", "a", "/a b", "/a//b", "/*/*", "/a*", "/", "/a/*")
    yield urls("flow to a place by all and more verbs", "/", verbs=("*", "<x>"))


def _bad_levels() -> Iterator[Case]:
    def case(title: str, spec: Any, **metadata: Any) -> Case:
        return cluster_case(title, *PRIORITY_LEVELS, spec=spec, metadata=metadata)

    def limited(title: str, /, **fields: Any) -> Case:
        usual = {"limitResponse": {"type": "Reject"}}
        return case(title, {"type": "Limited", "limited": usual | fields})

    yield case("level of nothing", {})
    yield case("level of an odd type", {"type": "<x>", "limited": {}, "exempt": {}})
    shares = {"nominalConcurrencyShares": -1, "lendablePercent": 101}
    yield case("exempt level", {"type": "Exempt", "limited": {}, "exempt": shares})
    yield case("limited level without limits", {"type": "Limited", "exempt": {}})
    yield limited("level of less than nothing", borrowingLimitPercent=-1, **shares)
    yield limited("level that does nothing", limitResponse={})
    yield limited("level that does odd things", limitResponse={"type": "<x>"})
    yield limited("level that refuses in queues", limitResponse={"type": "Reject", "queuing": {}})
    yield limited("level without queues", limitResponse={"type": "Queue"})
    yield case("level of no queue", queued_level(queues=-1, handSize=-1, queueLengthLimit=-1))
    yield case("level of many queues", queued_level(queues=10_000_001))
    yield case("level of large hands", queued_level(queues=4, handSize=5))
    yield case("level of large decks", queued_level(queues=512, handSize=7))
    key = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
    yield case("level of an older version", queued_level(), annotations={key: ""})
    yield case("level called exempt", queued_level(), name="exempt")
    yield case("level called catch-all", queued_level(), name="catch-all")
    yield case("catch-all that is exempt", {"type": "Exempt", "exempt": {}}, name="catch-all")


def _bad_services() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return title, API_SERVICES, api_service(**spec)

    yield "API service of nothing", API_SERVICES, api_service() | {"spec": {}}
    yield case("API service of another group", group="other")
    yield case("API service of a bad group", group="A_", version="V 1")
    yield case("API service of no group", group="")
    metadata = {"generateName": "made-", "labels": {"a b": ""}}
    yield "API service of some name", API_SERVICES, api_service() | {"metadata": metadata}
    metadata = {"name": "a/b%"}
    yield "API service of a bad name", API_SERVICES, api_service() | {"metadata": metadata}
    yield case("API service of low priority", groupPriorityMinimum=0, versionPriority=-1)
    yield case("API service of high priority", groupPriorityMinimum=20001, versionPriority=1001)
    yield case("API service elsewhere", service={"port": 0})
    local: Any = {"service": None, "caBundle": CERTIFICATE, "insecureSkipTLSVerify": True}
    yield case("local API service with secrets", **local)
    yield case("API service that is trusted twice", caBundle="AAAA", insecureSkipTLSVerify=True)


def _bad_requests() -> Iterator[Case]:
    usual: Any = {"request": REQUEST, "signerName": "example.com/s", "usages": ["any"]}

    def case(title: str, metadata: Any = None, /, **spec: Any) -> Case:
        made = {name: each for name, each in (usual | spec).items() if each is not None}
        return cluster_case(title, *CERTIFICATE_REQUESTS, metadata=metadata or {}, spec=made)

    yield cluster_case("certificate request of nothing", *CERTIFICATE_REQUESTS, spec={})
    yield case("certificate request of no bytes", request="")
    yield case("certificate request of some bytes", request="AAAA")
    yield case("certificate as a request", request=as_bytes(CERTIFICATE_PEM))
    lines = REQUEST_PEM.splitlines(keepends=True)
    yield case("certificate request without its end", request=as_bytes("".join(lines[:-1])))
    yield case("certificate request cut short", request=as_bytes("".join(lines[:-2] + lines[-1:])))
    yield case("certificate request of no content", request=as_bytes(lines[0] + lines[-1]))
    yield case(
        "certificate request in other words", request=as_bytes(f"x\n{REQUEST_PEM}y"), usages=[]
    )
    yield case("certificate request of odd usages", usages=["any", "<x>", "any", "<x>"])
    yield case("certificate request of no usage", usages=None)
    for signer in (
        *(
            "",
            "a",
            "a/b/c",
            "example.com",
            "example/s",
            "A_.b/C_.d",
            "kubernetes.io/legacy-unknown",
        ),
        *(
            f"{'a.' * 130}b/c",
            f"{'a' * 64}.b/c",
            f"a.b/{'c' * 254}",
            f"a.b/{'c.' * 290}d",
            "a..b/c.",
        ),
    ):
        yield case(f"certificate request for {signer[:30]}", signerName=signer)
    yield case("certificate request for a moment", expirationSeconds=599)
    yield case("certificate request called oddly", {"name": "A_ b"}, expirationSeconds=1)
    yield case("certificate request that fits no path", {"name": "a/b"})
    yield case("certificate request with bad labels", {"labels": {"a b": ""}, "finalizers": ["x"]})
