"""Scenes in which a node writes: pods, itself, tokens and certificates.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.real.devserver_objects import container, manifest, pod
from tests.real.differential.node_objects import (
    ACCOUNTS,
    CLAIMS,
    LEASES,
    MIRROR,
    NODE,
    NODES,
    ONE,
    REQUESTS,
    STORAGE,
    asked_as,
    by_admin,
    code_only,
    names,
    planted,
    planted_storage,
    refusal,
)
from tests.real.differential.script import (
    APPLY,
    JSON_PATCH,
    PODS,
    Ask,
    Edited,
    Scene,
    Step,
    WaitUntilServed,
    delete,
    get,
    patch,
    post,
    put,
    scene,
)


def node_write_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield scene("pods that a node writes", *planted(), *asked_as(NODE, *_written_pods()))
    yield scene("mirror pods", *asked_as(NODE, *_mirror_pods()))
    yield scene("a node's own objects", *asked_as(NODE, *_own_objects()))
    yield scene("tokens that a node asks for", *planted(), *asked_as(NODE, *_tokens()))
    yield scene("certificates that a node asks for", *asked_as(NODE, *_certificates()))
    yield scene("the claims of a node's pods", *planted_storage(), *_claims())


def _written_pods() -> Iterator[Ask]:
    yield post(PODS, pod())
    yield post(PODS, pod(nodeName="<ns>"))
    yield put(f"{PODS}/mine", Edited("minepod", {}))
    yield patch(f"{PODS}/mine", {"metadata": {"labels": {"a": "b"}}})
    for name in ("mine", "theirs", "unbound", "missing"):
        yield patch(f"{PODS}/{name}/status", {"status": {"phase": "Running"}}, view=refusal)
    labelled = Edited("minepod", {"metadata.labels": {"a": "b"}, "metadata.resourceVersion": ""})
    yield put(f"{PODS}/mine/status", labelled)
    yield patch(f"{PODS}/mine/status", {"metadata": {"labels": {"a": "b"}}})
    claims = {"status": {"resourceClaimStatuses": [{"name": "a"}]}}
    yield patch(f"{PODS}/mine/status", claims)
    extended = {"resourceClaimName": "a", "requestMappings": []}
    yield patch(f"{PODS}/mine/status", {"status": {"extendedResourceClaimStatus": extended}})
    applied = manifest("v1", "Pod", "mine", status={"phase": "Running"})
    yield patch(f"{PODS}/mine/status?fieldManager=me&force=true", applied, APPLY, view=refusal)
    yield patch(f"{PODS}/x/status?fieldManager=me", manifest("v1", "Pod"), APPLY)
    for name in ("theirs", "unbound", "missing", "mine"):
        eviction = manifest("policy/v1", "Eviction", name)
        yield post(f"{PODS}/{name}/eviction?dryRun=All", eviction, view=refusal)
    yield post(f"{PODS}/mine/eviction", manifest("policy/v1", "Eviction", "theirs"))
    for name in ("theirs", "unbound", "missing"):
        yield delete(f"{PODS}/{name}")
    yield delete(f"{PODS}/mine?gracePeriodSeconds=0", view=refusal)
    yield delete(PODS)


def _mirror_pods() -> Iterator[Step]:
    owner = {"apiVersion": "v1", "kind": "Node", "name": "<ns>", "controller": True}
    known = owner | {"uid": "<node>"}

    def mirror(*owners: Any, name: str = "static", **spec: Any) -> Any:
        metadata = {"name": name, "annotations": {MIRROR: "x"}, "ownerReferences": list(owners)}
        return pod(metadata=metadata, **({"nodeName": "<ns>"} | spec))

    yield post(PODS, mirror(owner | {"uid": "u"}))
    yield by_admin(post(NODES, manifest("v1", "Node", "<ns>"), keep={"node": "metadata.uid"}))
    yield WaitUntilServed(f"{PODS}?dryRun=All", NODE, mirror(known))
    yield post(PODS, mirror(owner | {"uid": "u"}))
    yield post(PODS, mirror())
    yield post(PODS, mirror(known, known | {"name": "b"}))
    yield post(PODS, mirror(known | {"name": "other"}))
    yield post(PODS, mirror(known | {"kind": "Pod"}))
    yield post(PODS, mirror({**known, "controller": False}))
    yield post(PODS, mirror(known | {"blockOwnerDeletion": True}))
    yield post(PODS, mirror(known, nodeName="other.<ns>"))
    yield post(PODS, {**mirror(known), "metadata": {"generateName": "made-"}})
    yield post(PODS, {**mirror(known), "metadata": {}})
    for spec in _needs():
        yield post(PODS, mirror(known, **spec))
    yield post(PODS, mirror(known, volumes=[{"name": "v"}]), view=code_only)
    yield post(PODS, mirror(known, volumes=[{"name": "v"}]), view=code_only)
    yield post(PODS, mirror(known, name="Bad Name"))
    yield delete(f"{PODS}/static?gracePeriodSeconds=0", view=code_only)
    applied = mirror(known, name="applied")
    yield patch(f"{PODS}/applied?fieldManager=me", applied, APPLY, view=code_only)


def _needs() -> Iterator[dict[str, Any]]:
    """Pods that need something of the API server."""
    yield {"serviceAccountName": "robot"}
    yield {"serviceAccount": "robot"}
    yield {"imagePullSecrets": [{"name": "s"}]}
    yield {"containers": [container(envFrom=[{"configMapRef": {"name": "c"}}])]}
    yield {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    sources: tuple[dict[str, Any], ...] = (
        {"configMap": {"name": "c"}},
        {"configMap": {}},
        {"secret": {"secretName": "s"}},
        {"csi": {"driver": "d.example"}},
        {"glusterfs": {"endpoints": "e", "path": "p"}},
        {"persistentVolumeClaim": {"claimName": "c"}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
        {"azureFile": {"secretName": "s", "shareName": "a"}},
        {"projected": {"sources": [{"configMap": {"name": "c"}}]}},
        {"projected": {"sources": [{"configMap": {}}]}},
        {"projected": {"sources": [{"downwardAPI": {}}, {"serviceAccountToken": {"path": "t"}}]}},
        {"projected": {"sources": [{"clusterTrustBundle": {"name": "b", "path": "p"}}]}},
        {"projected": {"sources": [{}]}},
    )
    yield from ({"volumes": [{"name": "v", **source}]} for source in sources)


def _own_objects() -> Iterator[Ask]:
    yield get(NODES)
    yield get(f"{NODES}/<ns>")
    yield get(f"{NODES}/other.<ns>")
    yield get(f"{NODES}?{ONE}<ns>", view=names)
    yield get(f"{NODES}?{ONE}other.<ns>")
    yield get(f"{NODES}?watch=1&timeoutSeconds=1")
    yield post(NODES, manifest("v1", "Node", "other.<ns>"))
    for label in ("kubernetes.io/hostname", "node.kubernetes.io/x", "a.kubelet.kubernetes.io/x"):
        labels = {
            label: "a",
            "example.com/x": "b",
            "plain": "c",
            "topology.kubernetes.io/zone": "z",
        }
        made = manifest("v1", "Node", "<ns>", metadata={"labels": labels})
        yield post(f"{NODES}?dryRun=All", made, view=code_only)
    for labels in (
        {"node-restriction.kubernetes.io/x": "a"},
        {"a.node-restriction.kubernetes.io/x": "a", "kubernetes.io/x": "b", "z.k8s.io/y": "c"},
        {"node-role.kubernetes.io/master": ""},
    ):
        yield post(NODES, manifest("v1", "Node", "<ns>", metadata={"labels": labels}))
    yield post(NODES, manifest("v1", "Node", "<ns>"), keep={"node": ""}, view=code_only)
    place = f"{NODES}/<ns>"
    yield put(place, Edited("node", {"metadata.labels": {"plain": "x"}}), view=code_only)
    yield patch(place, {"metadata": {"labels": {"a.k8s.io/x": "y", "b.k8s.io/x": "y"}}})
    yield patch(place, {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u"}
    yield patch(place, {"metadata": {"ownerReferences": [owner]}})
    yield patch(place, {"spec": {"unschedulable": True}}, view=code_only)
    yield patch(f"{place}/status", {"status": {"phase": "Running"}}, view=code_only)
    yield patch(f"{place}/status", {"metadata": {"labels": {"kubernetes.io/x": "y"}}})
    yield patch(f"{NODES}/other.<ns>", {})
    yield patch(f"{NODES}/other.<ns>/status", {})
    change = [{"op": "add", "path": "/metadata/labels/kubernetes.io~1x", "value": "y"}]
    yield patch(place, change, JSON_PATCH)
    yield get(f"{place}/status")
    yield delete(place)
    yield delete(NODES)
    for kind, path, version, spec in (
        ("Lease", LEASES, "coordination.k8s.io/v1", {"holderIdentity": "x"}),
        ("CSINode", f"{STORAGE}/csinodes", "storage.k8s.io/v1", {"drivers": []}),
    ):
        yield post(path, manifest(version, kind, "other.<ns>", spec=spec))
        yield post(path, manifest(version, kind, "<ns>", spec=spec), view=code_only)
        yield get(f"{path}/<ns>", view=code_only)
        yield get(f"{path}/other.<ns>")
        yield patch(f"{path}/<ns>", {"metadata": {"labels": {"a": "b"}}}, view=code_only)
        yield patch(f"{path}/other.<ns>", {})
        yield get(path)
        yield get(f"{path}?{ONE}<ns>")
        yield get(f"{path}/<ns>/status")
        yield delete(path)
        yield delete(f"{path}/other.<ns>")
        yield delete(f"{path}/<ns>", view=code_only)
    leases = LEASES.replace("kube-node-lease", "<ns>")
    yield get(f"{leases}/<ns>")
    yield post(leases, manifest("coordination.k8s.io/v1", "Lease", "<ns>"))


def _tokens() -> Iterator[Step]:
    place = f"{ACCOUNTS}/mine/token"
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "mine", "uid": "<mine>"}

    def request(**spec: Any) -> Any:
        return {"spec": {"boundObjectRef": bound} | spec}

    yield post(place, {"spec": {}})
    yield post(place, {"spec": {"audiences": ["vault"]}})
    yield post(place, request(boundObjectRef=bound | {"kind": "Secret"}))
    yield post(place, request(boundObjectRef={**bound, "uid": ""}))
    yield post(place, request(boundObjectRef=bound | {"name": "missing"}))
    yield post(place, request(boundObjectRef=bound | {"uid": "u"}))
    other = {"name": "theirs", "uid": "<theirs>"}
    yield post(place, request(boundObjectRef=bound | other))
    yield post(place, request(audiences=["vault", "other"]))
    yield post(place, request(audiences=["unheard-of"]))
    yield post(place, request(audiences=["vault"]), view=code_only)
    yield post(place, request(), view=code_only)
    yield post(place, request(expirationSeconds=1))
    yield post(f"{ACCOUNTS}/theirs/token", request())
    yield post(f"{ACCOUNTS}/missing/token", request())
    yield get(place)
    yield post(ACCOUNTS, manifest("v1", "ServiceAccount", "new"))
    spec = {"tokenRequests": [{"audience": "csi"}], "serviceAccountTokenInSecrets": True}
    driver = manifest("storage.k8s.io/v1", "CSIDriver", "d.<ns>", spec=spec)
    yield by_admin(post(f"{STORAGE}/csidrivers", driver, view=code_only))
    inline = {"name": "v", "csi": {"driver": "d.<ns>"}}
    claimed = {"name": "w", "persistentVolumeClaim": {"claimName": "none"}}
    for name, volumes in (("inline", [inline]), ("both", [claimed, inline]), ("lost", [claimed])):
        used = pod(
            metadata={"name": name}, nodeName="<ns>", serviceAccountName="mine", volumes=volumes
        )
        yield by_admin(post(PODS, used, keep={name: "metadata.uid"}, view=code_only))
        yield WaitUntilServed(f"{PODS}/{name}", NODE)
        reference = bound | {"name": name, "uid": f"<{name}>"}
        for audience in ("csi", "other"):
            asked = request(boundObjectRef=reference, audiences=[audience])
            if (name, audience) == ("inline", "csi"):  # the real server hears of drivers later
                yield WaitUntilServed(place, NODE, asked)
            yield post(place, asked, view=refusal)


def _certificates() -> Iterator[Ask]:
    for name, common_name, signer in (
        ("a", "system:node:elsewhere", "kubernetes.io/kubelet-serving"),
        ("b", "system:node:elsewhere", "kubernetes.io/kube-apiserver-client-kubelet"),
        ("c", "anybody", "example.com/signer"),
    ):
        spec = {"request": _pem(common_name), "signerName": signer, "usages": ["client auth"]}
        made = manifest("certificates.k8s.io/v1", "CertificateSigningRequest", spec=spec)
        made["metadata"]["name"] = f"{name}.<ns>"
        yield post(REQUESTS, made)
    spec = spec | {"signerName": "kubernetes.io/kubelet-serving", "request": "AAAA"}
    yield post(REQUESTS, made | {"spec": spec})
    yield get(f"{REQUESTS}/c.<ns>")
    yield patch(f"{REQUESTS}/c.<ns>/approval", {})
    yield delete(f"{REQUESTS}/c.<ns>")


@cache
def _pem(common_name: str) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = request.sign(key, hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


def _claims() -> Iterator[Step]:
    def cut(body: Any) -> Any:
        """Leave out what the real server says of the difference."""
        said, asked, _ = body.get("message", "").partition("status.conditions")
        return body | {"message": said + asked} if asked else refusal(body)

    grown = {"status": {"capacity": {"storage": "2Gi"}, "conditions": []}}
    asked = (
        patch(f"{CLAIMS}/mine/status", grown, view=cut),
        patch(f"{CLAIMS}/mine/status", {"metadata": {"labels": {"a": "b"}}}, view=cut),
        patch(f"{CLAIMS}/mine/status", {"status": {"phase": "Lost"}}, view=cut),
        patch(f"{CLAIMS}/theirs/status", grown),
        put(f"{CLAIMS}/mine/status", Edited("mine", {"metadata.resourceVersion": ""}), view=cut),
        patch(f"{CLAIMS}/mine", {}),
        delete(f"{CLAIMS}/mine"),
    )
    yield from asked_as(NODE, *asked)
