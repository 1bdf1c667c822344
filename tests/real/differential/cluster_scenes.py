"""Scenes about the kinds that configure a cluster: their whole life, and what is special to each.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.real.devserver_objects import manifest, pod
from tests.real.differential.script import (
    APPLY,
    CORE,
    PODS,
    TABLE,
    Ask,
    Scene,
    delete,
    get,
    patch,
    post,
    put,
    scene,
)
from tests.real.good_cluster_objects import ONLY_TRIED, good_cluster_objects

REQUESTS: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
OLD_SCALERS: Final = "/apis/autoscaling/v1/namespaces/<ns>/horizontalpodautoscalers"
NEW_SCALERS: Final = "/apis/autoscaling/v2/namespaces/<ns>/horizontalpodautoscalers"
SERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
ADDRESSES: Final = "/apis/networking.k8s.io/v1/ipaddresses"
_REQUESTER: Final = ("username", "uid", "groups", "extra")


def cluster_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    for title, path, body in good_cluster_objects():
        made = json.loads(json.dumps(body).replace("{namespace}", "<ns>"))
        if not title.endswith(ONLY_TRIED):
            steps = _life(path.replace("{namespace}", "<ns>"), made)
            yield scene(f"the life of a {title}", *steps)
    yield scene("dry runs of what controllers would complete", *_dry_runs())
    yield scene("a certificate request is approved and issued", *_approved())
    yield scene("a certificate request is denied", *_denied())
    yield scene("autoscalers in both versions", *_scalers())
    yield scene("bindings without the pod in the path", *_bindings())
    yield scene("what a write to the status may change", *_statuses())
    yield scene("addresses", *_addresses())


def of_conditions(made: Any) -> dict[str, str]:
    """Say what differs in the answer to the create of a webhook configuration."""
    has_conditions = any(each.get("matchConditions") for each in made.get("webhooks") or ())
    return {"headers.Warning": "match-conditions"} if has_conditions else {}


def _life(path: str, made: Any) -> Iterator[Ask]:
    name = made["metadata"]["name"]
    place = f"{path}/{name}"
    yield post(path, made, differs=of_conditions(made))
    yield get(place)
    yield get(place, accept=TABLE)
    yield patch(place, {"metadata": {"labels": {"later": "yes"}}})
    yield put(place, made)
    applied = {key: made[key] for key in ("apiVersion", "kind")}
    applied["metadata"] = {"name": name, "annotations": {"applied": "yes"}}
    yield patch(f"{place}?fieldManager=me&force=true", applied, APPLY)
    yield patch(f"{place}?dryRun=All", {"unheard": "of"})
    yield delete(place)


def _dry_runs() -> Iterator[Ask]:
    for title, path, body in good_cluster_objects():
        if title.endswith(ONLY_TRIED):
            made = json.loads(json.dumps(body).replace("{namespace}", "<ns>"))
            yield post(f"{path}?dryRun=All", made)
            yield post(f"{path}?dryRun=All", made, accept=TABLE)
    local = {
        "group": "local.<ns>.example",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 10,
    }
    name = "v1.local.<ns>.example"
    made = manifest("apiregistration.k8s.io/v1", "APIService", name=name, spec=local)
    yield post(f"{SERVICES}?dryRun=All", made)
    yield get(f"{SERVICES}/v1.apps-of-nobody")


def _without_requester(body: Any) -> Any:
    """Leave out who asks, who is somebody else on each server."""
    for each in _REQUESTER:
        body.get("spec", {}).pop(each, None)
    for row in body.get("rows") or ():
        row["cells"][3] = ""
        row["object"] = None
    return body


@cache
def _pem() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "someone")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = request.sign(key, hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


def _request() -> Any:
    spec = {
        "request": _pem(),
        "signerName": "example.com/signer",
        "usages": ["digital signature", "client auth"],
        "expirationSeconds": 7200,
        "username": "somebody-else",
    }
    made = manifest("certificates.k8s.io/v1", "CertificateSigningRequest", name="<ns>", spec=spec)
    return made | {"status": {"certificate": "AAAA"}}


def _approved() -> Iterator[Ask]:
    view = _without_requester
    place = f"{REQUESTS}/<ns>"
    yield post(REQUESTS, _request(), view=view)
    yield get(place, accept=TABLE, view=view)
    yield get(f"{REQUESTS}?fieldSelector=spec.signerName=nobody/x")
    yield get(f"{REQUESTS}?fieldSelector=spec.nothing=x")
    slices = "/apis/resource.k8s.io/v1/resourceslices"
    yield get(f"{slices}?fieldSelector=spec.driver=nobody,spec.nodeName=nowhere")
    yield get(f"{slices}?fieldSelector=spec.nothing=x")
    change = {"spec": {"expirationSeconds": 9000}, "metadata": {"labels": {"a": "b"}}}
    yield patch(place, change, view=view)
    approved = {"type": "Approved", "status": "True", "reason": "Yes", "message": "why not"}
    change = {"status": {"conditions": [approved], "certificate": "AAAA"}}
    yield patch(f"{place}/approval", change, view=view)
    yield get(f"{place}/approval", view=view)
    yield get(place, accept=TABLE, view=view)
    yield delete(place, view=view)


def _denied() -> Iterator[Ask]:
    view = _without_requester
    place = f"{REQUESTS}/<ns>"
    yield post(REQUESTS, _request(), view=view)
    denied = {"type": "Denied", "status": "True", "reason": "No"}
    yield patch(f"{place}/approval", {"status": {"conditions": [denied]}}, view=view)
    failed = {"type": "Failed", "status": "True", "reason": "Late"}
    change = {"status": {"conditions": [denied | {"reason": "Other"}, failed]}}
    yield patch(f"{place}/status", change, view=view)
    yield get(place, accept=TABLE, view=view)
    yield get(place, view=view)
    yield delete(place, view=view)


def _scalers() -> Iterator[Ask]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    kind = "HorizontalPodAutoscaler"
    plain = manifest("autoscaling/v1", kind, spec={"scaleTargetRef": target, "maxReplicas": 3})
    yield post(OLD_SCALERS, plain)
    yield get(f"{OLD_SCALERS}/x")
    yield get(f"{NEW_SCALERS}/x")
    yield patch(f"{OLD_SCALERS}/x", {"spec": {"targetCPUUtilizationPercentage": 60}})
    yield get(f"{NEW_SCALERS}/x")
    described = {"apiVersion": "v1", "kind": "Service", "name": "s"}
    half = {"type": "Utilization", "averageUtilization": 50}
    ten = {"type": "AverageValue", "averageValue": "10"}
    chosen = {"name": "m", "selector": {"matchLabels": {"a": "b"}}}
    metrics = [
        {"type": "Resource", "resource": {"name": "cpu", "target": half}},
        {"type": "Resource", "resource": {"name": "memory", "target": half}},
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "c", "target": half},
        },
        {"type": "Pods", "pods": {"metric": {"name": "p"}, "target": ten}},
        {
            "type": "Object",
            "object": {"metric": {"name": "o"}, "describedObject": described, "target": ten},
        },
        {
            "type": "External",
            "external": {"metric": chosen, "target": {"type": "Value", "value": "5"}},
        },
    ]
    up = {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}
    spec = {
        "scaleTargetRef": target,
        "maxReplicas": 9,
        "metrics": metrics,
        "behavior": {"scaleUp": up},
    }
    yield post(NEW_SCALERS, manifest("autoscaling/v2", kind, name="rich", spec=spec))
    found = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7}}}
    since = "2024-01-01T00:00:00Z"
    condition = {"type": "AbleToScale", "status": "True", "lastTransitionTime": since}
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [found],
        "conditions": [condition],
    }
    yield patch(f"{NEW_SCALERS}/rich/status", {"status": status})
    yield get(f"{OLD_SCALERS}/rich")
    yield get(OLD_SCALERS, accept=TABLE)
    yield patch(f"{OLD_SCALERS}/rich", {"spec": {"maxReplicas": 8}})
    yield get(f"{NEW_SCALERS}/rich")
    yield get(OLD_SCALERS)
    yield delete(f"{OLD_SCALERS}/rich")


def _bindings() -> Iterator[Ask]:
    yield post(PODS, pod(metadata={"name": "free"}))
    node = {"kind": "Node", "name": "n1"}
    yield post(f"{CORE}/bindings", manifest("v1", "Binding", name="free", target=node))
    yield post(f"{CORE}/bindings", manifest("v1", "Binding", name="nobody", target=node))
    yield get(f"{CORE}/bindings")
    yield get(f"{PODS}/free")


def _statuses() -> Iterator[Ask]:
    changed = {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}}
    for title, path, body in good_cluster_objects():
        if title not in {"validating policy", "volume attachment", "resource claim"}:
            continue
        made = json.loads(json.dumps(body).replace("{namespace}", "<ns>"))
        base = path.replace("{namespace}", "<ns>")
        yield post(base, made)
        status = {"attached": True} if title == "volume attachment" else {}
        place = f"{base}/{made['metadata']['name']}"
        yield patch(f"{place}/status", {**changed, "status": status})
        yield get(place, accept=TABLE)
        yield delete(place)


def _addresses() -> Iterator[Ask]:
    parent = {"group": "", "resource": "services", "namespace": "<ns>", "name": "s"}
    made = manifest("networking.k8s.io/v1", "IPAddress", name="2001:db8::77")
    yield post(ADDRESSES, made | {"spec": {"parentRef": parent}})
    yield get(f"{ADDRESSES}/2001:db8::77", accept=TABLE)
    yield delete(f"{ADDRESSES}/2001:db8::77")
