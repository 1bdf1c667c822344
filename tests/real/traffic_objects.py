"""Ingresses and network policies that are accepted, and ones that are refused, a rule each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import LABELS, Case, Manifest, manifest

GROUP: Final = "networking.k8s.io/v1"
INGRESSES: Final = f"/apis/{GROUP}/namespaces/{{namespace}}/ingresses"
POLICIES: Final = f"/apis/{GROUP}/namespaces/{{namespace}}/networkpolicies"
BUCKET: Final = {"apiGroup": "example.com", "kind": "Bucket", "name": "b"}
SELECTOR: Final = {
    "matchLabels": LABELS,
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
}


def backend(service: str = "web", /, **port: Any) -> Manifest:
    return {"service": {"name": service, "port": port or {"number": 80}}}


def path(**fields: Any) -> Manifest:
    return {"path": "/", "pathType": "Prefix", "backend": backend()} | fields


def ingress(*, annotations: Manifest | None = None, **spec: Any) -> Manifest:
    metadata = {"annotations": annotations} if annotations else {}
    usual = {"defaultBackend": backend()}
    return manifest(GROUP, "Ingress", metadata=metadata, spec=spec or usual)


def routed(*paths: Manifest, **rule: Any) -> Manifest:
    return ingress(rules=[{"http": {"paths": list(paths) or [path()]}} | rule])


def policy(**spec: Any) -> Manifest:
    return manifest(GROUP, "NetworkPolicy", spec={"podSelector": {}} | spec)


def port(**fields: Any) -> Manifest:
    return policy(ingress=[{"ports": [fields]}])


def block(cidr: str, *excepted: str) -> Manifest:
    peer = {"ipBlock": {"cidr": cidr, "except": list(excepted)}}
    return policy(egress=[{"to": [peer]}], policyTypes=["Egress"])


def good_traffic() -> Iterator[Case]:
    """Yield objects that are accepted; what is stored shows the defaults."""
    yield "ingress with a backend", INGRESSES, ingress()
    yield "ingress with a resource", INGRESSES, ingress(defaultBackend={"resource": BUCKET})
    rules = [
        {"host": "a.example.com", "http": {"paths": [path(), path(pathType="Exact", path="/x")]}},
        {"host": "*.example.com", "http": {"paths": [path(backend=backend("1-web", name="http"))]}},
        {"http": {"paths": [{"pathType": "ImplementationSpecific", "backend": backend()}]}},
        {"host": "no.paths.example.com"},
    ]
    tls = [{"hosts": ["a.example.com", "*.example.com"], "secretName": "s"}, {}]
    yield (
        "ingress with everything",
        INGRESSES,
        ingress(
            annotations={"kubernetes.io/ingress.class": "nginx"},
            ingressClassName="nginx",
            defaultBackend=backend(),
            rules=rules,
            tls=tls,
        ),
    )
    old_class = {"kubernetes.io/ingress.class": "nginx"}
    yield "ingress of an old class", INGRESSES, ingress(annotations=old_class)
    yield "network policy with nothing", POLICIES, policy()
    yield "network policy outwards", POLICIES, block("10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16")
    yield "network policy for six", POLICIES, block("2001:DB8::/32", "2001:db8:1::/48")
    ports = [{}, {"port": "http", "protocol": "UDP"}, {"port": 80, "endPort": 90}]
    peers = [{"podSelector": SELECTOR, "namespaceSelector": {}}, {"ipBlock": {"cidr": "::/0"}}]
    yield (
        "network policy with everything",
        POLICIES,
        policy(
            podSelector=SELECTOR,
            ingress=[{}, {"ports": ports, "from": peers}],
            egress=[{"ports": ports, "to": peers}],
        ),
    )


def bad_traffic() -> Iterator[Case]:
    """Yield objects that are refused."""
    yield from _bad_ingresses()
    yield from _bad_paths()
    yield from _bad_policies()


def _bad_ingresses() -> Iterator[Case]:
    def case(title: str, /, **fields: Any) -> Case:
        return f"ingress {title}", INGRESSES, ingress(**fields)

    both = {"resource": BUCKET} | backend()
    yield case("for nothing", tls=[{"secretName": "s"}])
    yield case("with an empty backend", defaultBackend={})
    yield case("with two backends", defaultBackend=both)
    yield case("with an empty service", defaultBackend={"service": {}})
    yield case("with a bad service", defaultBackend=backend("Web"))
    yield case("with two ports", defaultBackend=backend(name="http", number=80))
    yield case("with a bad port name", defaultBackend=backend(name="-Http--"))
    yield case("with a bad port number", defaultBackend=backend(number=70000))
    yield case("with an empty resource", defaultBackend={"resource": {}})
    odd = {"apiGroup": "A_", "kind": "a/b", "name": ".."}
    yield case("with a bad resource", defaultBackend={"resource": odd})
    yield case("with a bad class", ingressClassName="A_", defaultBackend=backend())
    yield case(
        "with two classes",
        annotations={"kubernetes.io/ingress.class": "a"},
        ingressClassName="b",
        defaultBackend=backend(),
    )
    hosts = ["A_", "*", "a.*.b", "*.a", ""]
    tls = [{"hosts": hosts, "secretName": "A_"}]
    yield case("with bad certificates", tls=tls, defaultBackend=backend())


def _bad_paths() -> Iterator[Case]:
    def case(title: str, /, *paths: Manifest, **rule: Any) -> Case:
        return f"ingress {title}", INGRESSES, routed(*paths, **rule)

    yield case("with an address as host", host="10.0.0.1")
    yield case("with a lenient address as host", host="010.0.0.1")
    yield case("with a bad host", host="a_b")
    yield case("with a bad wildcard", host="*a.b")
    yield case("with a long wildcard", host=f"*.{'a' * 252}")
    yield case("without paths", http={"paths": []})
    yield case("without path type", {"backend": backend(), "path": "nope"})
    yield case("with a bad path type", path(pathType="Prefx", path="nope"))
    yield case("with a path type like a tag", path(pathType="<a>"))
    yield case("with a relative path", path(path="nope"))
    yield case("with an empty path", path(pathType="Exact", path=""))
    yield case("with any relative path", path(pathType="ImplementationSpecific", path="x"))
    yield case("with a crooked path", path(path="//a/./b/../c%2fd%2F/.."))
    yield case("with a dotted path", path(path="/."), path(backend={}))


def _bad_policies() -> Iterator[Case]:
    def case(title: str, body: Manifest) -> Case:
        return f"network policy {title}", POLICIES, body

    yield case("with a bad protocol", port(protocol="ICMP"))
    yield case("with a protocol like a tag", port(protocol="<a>&"))
    yield case("with an empty protocol", port(protocol=""))
    yield case("with a bad port", port(port=0))
    yield case("with a bad port name", port(port="Not-A-Port-Name-"))
    yield case("that ends before it begins", port(port=90, endPort=80))
    yield case("that ends nowhere", port(port=90, endPort=70000))
    yield case("that ends after a name", port(port="http", endPort=80))
    yield case("that ends only", port(endPort=80))
    yield case("with an empty peer", policy(ingress=[{"from": [{}]}]))
    mixed = {"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}
    yield case("with a mixed peer", policy(egress=[{"to": [mixed]}]))
    wrong = {"matchExpressions": [{"key": "a b", "operator": "Near", "values": ["c d"]}]}
    yield case("with bad selectors", policy(podSelector=wrong, ingress=[{"from": [_both(wrong)]}]))
    yield case("of a bad type", policy(policyTypes=["Ingress", "Sideways"]))
    yield case("of many types", policy(policyTypes=["Ingress", "Egress", "Ingress"]))
    yield case("for no network", block(""))
    yield case("for a bad network", block("10.0.0.0/99", "x"))
    yield case("for an address", block("10.0.0.0"))
    yield case("for leading zeros", block("010.0.0.0/8"))
    yield case("for a length with leading zeros", block("10.0.0.0/08"))
    yield case("for a mapped network", block("::ffff:10.0.0.0/104"))
    yield case("for bits beyond", block("10.0.0.1/8"))
    excepted = ("11.0.0.0/16", "10.0.0.0/8", "10.0.0.1/16", "x", "2001:db8::/48")
    yield case("with bad exceptions", block("10.0.0.0/8", *excepted))


def _both(selector: Manifest) -> Manifest:
    return {"podSelector": selector, "namespaceSelector": selector}
