"""What a node may write, seen from the objects."""

from __future__ import annotations

import base64
import sys
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reflet.devserver.authorization.node_restriction import (
    AttemptedWrite,
    Operation,
    restriction,
)
from reflet.devserver.request.authentication import ADMIN, UserInfo
from reflet.devserver.storage.stored import Key
from tests.unit.devserver.object_scene import kind_of

NODE = UserInfo("system:node:a", groups=("system:nodes",))
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "u", "controller": True}
MIRROR = {"kubernetes.io/config.mirror": "x"}
OWN_POD: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "shop", "uid": "p", "labels": {"app": "web"}},
    "spec": {
        "nodeName": "a",
        "volumes": [
            {
                "name": "t",
                "projected": {"sources": [{"serviceAccountToken": {"audience": "vault"}}]},
            }
        ],
    },
}
STORED: dict[Key, dict[str, Any]] = {
    Key("nodes", "", "a"): {"metadata": {"uid": "u"}},
    Key("pods", "shop", "web"): OWN_POD,
    Key("pods", "shop", "other"): {"metadata": {"uid": "o"}, "spec": {"nodeName": "b"}},
}


def said(
    operation: Operation,
    resource: str,
    *,
    name: str = "a",
    old: Any = None,
    new: Any = None,
    namespace: str = "shop",
    user: UserInfo = NODE,
    more: dict[Key, dict[str, Any]] | None = None,
) -> str:
    """Give what a write is refused with, after "is forbidden: "; empty when it is admitted."""
    plural, _, group = resource.partition(".")
    plural, _, subresource = plural.partition("/")
    write = AttemptedWrite(
        operation,
        kind_of(plural, group),
        name,
        namespace,
        new or {},
        old or {},
        subresource,
        user,
    )
    refused = restriction(write, (STORED | (more or {})).get)
    return (
        "" if refused is None else refused.message.partition(" is forbidden: ")[2] or str(refused)
    )


def mirror(*, annotations: Any = MIRROR, owners: Any = (OWNER,), **spec: Any) -> dict[str, Any]:
    metadata = {"name": "static", "annotations": annotations, "ownerReferences": list(owners)}
    return {"metadata": metadata, "spec": {"nodeName": "a"} | spec}


def test_whoever_is_no_node_may_write_everything() -> None:
    assert said("CREATE", "pods", user=ADMIN, new={"metadata": {"name": "x"}}) == ""


def test_a_node_may_make_a_mirror_pod_of_its_own() -> None:
    assert said("CREATE", "pods", new=mirror()) == ""


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        (
            mirror(annotations={}),
            (
                'pod does not have "kubernetes.io/config.mirror" annotation, '
                'node "a" can only create mirror pods'
            ),
        ),
        (mirror(nodeName="b"), 'node "a" can only create pods with spec.nodeName set to itself'),
        (
            mirror(owners=()),
            'node "a" can only create pods with an owner reference set to itself',
        ),
        (
            mirror(owners=(OWNER, OWNER)),
            'node "a" can only create pods with a single owner reference set to itself',
        ),
        (
            mirror(owners=(OWNER | {"controller": False},)),
            'node "a" can only create pods with a controller owner reference set to itself',
        ),
        (
            mirror(owners=(OWNER | {"blockOwnerDeletion": True},)),
            'node "a" must not set blockOwnerDeletion on an owner reference',
        ),
        (mirror(owners=(OWNER | {"uid": "x"},)), "node a UID mismatch: expected x got u"),
        (
            mirror(imagePullSecrets=[{"name": "key"}]),
            'node "a" can not create pods that reference secrets',
        ),
        (
            mirror(volumes=[{"name": "v", "projected": {"sources": [{}]}}]),
            'error checking mirror pod for API references: unknown source for projected volume "v"',
        ),
    ],
)
def test_other_pods_a_node_may_not_make(pod: Any, why: str) -> None:
    assert said("CREATE", "pods", new=pod) == why


def test_a_mirror_pod_of_a_node_that_is_not_there_is_not_found() -> None:
    stranger = UserInfo("system:node:b", groups=("system:nodes",))
    pod = mirror(nodeName="b", owners=(OWNER | {"name": "b"},))

    assert said("CREATE", "pods", user=stranger, new=pod) == 'node "b" not found'


def test_a_refusal_names_what_is_to_get_a_name() -> None:
    def named(metadata: Any) -> str:
        made = {"metadata": metadata}
        write = AttemptedWrite("CREATE", kind_of("pods"), "", "shop", made, {}, "", NODE)
        refused = restriction(write, STORED.get)
        assert refused is not None
        return refused.name

    assert [named({"name": "x"}), named({"generateName": "x-"}), named({})] == [
        *("x", "x-", "Unknown")
    ]


def test_a_node_deletes_and_evicts_its_own_pods_only() -> None:
    other = STORED[Key("pods", "shop", "other")]

    assert said("DELETE", "pods", name="web", old=OWN_POD) == ""
    assert said("CREATE", "pods/eviction", name="web") == ""
    assert said("DELETE", "pods", name="other", old=other) == (
        'node "a" can only delete pods with spec.nodeName set to itself'
    )
    assert said("CREATE", "pods/eviction", name="other") == (
        "node a can only evict pods with spec.nodeName set to itself"
    )
    assert said("CREATE", "pods/eviction", name="none") == 'pod "none" not found'


def test_a_node_in_the_group_of_masters_changes_no_pods_either() -> None:
    assert said("UPDATE", "pods", old=OWN_POD, new=OWN_POD) == (
        'unexpected operation "UPDATE", node "a" can only create and delete mirror pods'
    )
    assert said("CREATE", "pods/binding") == (
        "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed"
    )


@pytest.mark.parametrize(
    ("old", "change", "why"),
    [
        ({}, {"status": {"phase": "Running"}}, ""),
        ({}, {"metadata": {}}, 'node "a" cannot update labels through pod status'),
        (
            {},
            {"status": {"resourceClaimStatuses": [{"name": "x"}]}},
            'node "a" cannot update resource claim statues',
        ),
        (
            {},
            {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "x"}}},
            'node "a" cannot update extended resource claim status',
        ),
        (
            {"spec": {"nodeName": "b"}},
            {},
            'node "a" can only update pod status for pods with spec.nodeName set to itself',
        ),
    ],
)
def test_the_status_of_its_pods_is_a_nodes_and_nothing_else_of_them(
    old: Any, change: Any, why: str
) -> None:
    assert said("UPDATE", "pods/status", old=OWN_POD | old, new=OWN_POD | change) == why


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ({"plain": "x", "example.com/x": "y"}, ""),
        ({"kubernetes.io/hostname": "x", "topology.kubernetes.io/zone": "y"}, ""),
        ({"kubelet.kubernetes.io/x": "", "a.node.kubernetes.io/y": ""}, ""),
        ({"node-restriction.kubernetes.io/x": ""}, "node-restriction.kubernetes.io/x"),
        ({"a.node-restriction.kubernetes.io/x": ""}, "a.node-restriction.kubernetes.io/x"),
        ({"z.k8s.io/x": "", "kubernetes.io/x": ""}, "kubernetes.io/x, z.k8s.io/x"),
    ],
)
def test_the_labels_that_a_node_may_give_itself(labels: Any, named: str) -> None:
    new = {"metadata": {"name": "a", "labels": labels}}

    created = said("CREATE", "nodes", new=new)
    changed = said("UPDATE", "nodes", old={"metadata": {}}, new=new)
    removed = said("UPDATE", "nodes/status", old=new, new={"metadata": {}})

    on_create = 'node "a" is not allowed to set the following labels: '
    on_update = "is not allowed to modify labels: "
    assert [created, changed, removed] == [
        each + named if named else "" for each in (on_create, on_update, on_update)
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"spec": {"unschedulable": True}}, ""),
        ({"spec": {"taints": []}}, ""),
        ({"spec": {"taints": [{"key": "x"}]}}, 'node "a" is not allowed to modify taints'),
        (
            {"metadata": {"ownerReferences": [OWNER]}},
            'node "a" is not allowed to modify ownerReferences',
        ),
        (
            {"spec": {"configSource": {}}},
            'node "a" is not allowed to update configSource to a new non-nil configSource',
        ),
    ],
)
def test_what_draws_pods_to_a_node_is_not_its_own_to_change(change: Any, why: str) -> None:
    old = {"metadata": {"name": "a"}, "spec": {"configSource": {"x": 1}}}

    assert said("UPDATE", "nodes", old=old, new=old | change) == why


def test_a_node_writes_its_own_objects_only() -> None:
    lease, csi = "leases.coordination.k8s.io", "csinodes.storage.k8s.io"
    slices = "resourceslices.resource.k8s.io"
    own, other = {"spec": {"nodeName": "a"}}, {"spec": {"nodeName": "b"}}

    assert said("UPDATE", "nodes", name="b") == 'node "a" is not allowed to modify node "b"'
    assert said("CREATE", lease, namespace="kube-node-lease") == ""
    assert "same name" in said("CREATE", lease, namespace="kube-node-lease", name="b")
    assert said("CREATE", lease).endswith('in the "kube-node-lease" system namespace')
    assert said("UPDATE", csi) == ""
    assert "same name" in said("UPDATE", csi, name="b")
    assert [said("CREATE", slices, new=each) == "" for each in (own, other)] == [True, False]
    assert [said("DELETE", slices, old=each) == "" for each in (own, other)] == [True, False]
    assert said("UPDATE", slices, old=other, new=other) == ""


def test_of_a_claim_a_node_changes_what_became_of_it() -> None:
    claim = {"metadata": {"name": "disk", "resourceVersion": "7"}, "spec": {"volumeName": "v"}}
    grown = {"metadata": {"name": "disk"}, "spec": claim["spec"], "status": {"capacity": {}}}
    labelled = {**grown, "metadata": {"name": "disk", "labels": {"a": "b"}}}
    resource = "persistentvolumeclaims/status"

    assert said("UPDATE", resource, old=claim, new=grown) == ""
    assert "is not allowed to update fields other" in said(
        "UPDATE", resource, old=claim, new=labelled
    )
    assert said("UPDATE", "persistentvolumeclaims") == "may only update PVC status"


BOUND = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "p"}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"audiences": ["vault"]}, ""),
        ({"boundObjectRef": None}, "node requested token not bound to a pod"),
        ({"boundObjectRef": BOUND | {"kind": "Secret"}}, "node requested token not bound to a pod"),
        (
            {"boundObjectRef": BOUND | {"uid": ""}},
            "node requested token with a pod binding without a uid",
        ),
        ({"boundObjectRef": BOUND | {"name": "none"}}, 'pod "none" not found'),
        (
            {"boundObjectRef": BOUND | {"uid": "x"}},
            (
                "the UID in the bound object reference (x) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            ),
        ),
        (
            {"boundObjectRef": BOUND | {"name": "other", "uid": "o"}},
            "node requested token bound to a pod scheduled on a different node",
        ),
        ({"audiences": ["vault", "b"]}, "node may only request 0 or 1 audiences"),
        (
            {},
            (
                'audience "" not found in pod spec volume, system:node:a is not '
                "authorized to request tokens for this audience"
            ),
        ),
    ],
)
def test_tokens_are_for_pods_of_the_node_and_their_audiences(spec: Any, why: str) -> None:
    new = {"spec": {"boundObjectRef": BOUND} | spec}

    assert said("CREATE", "serviceaccounts/token", name="robot", new=new) == why


CLAIMED = [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]
STORAGE: dict[Key, dict[str, Any]] = {
    Key("persistentvolumeclaims", "shop", "disk"): {"spec": {"volumeName": "v-1"}},
    Key("persistentvolumes", "", "v-1"): {"spec": {"csi": {"driver": "d"}}},
    Key("csidrivers.storage.k8s.io", "", "d"): {"spec": {"tokenRequests": [{"audience": "x"}]}},
}


@pytest.mark.parametrize(
    ("missing", "volumes", "why"),
    [
        ("", CLAIMED, ""),
        ("", [{"name": "v", "csi": {"driver": "d"}}], ""),
        (
            "persistentvolumeclaims",
            CLAIMED,
            'error validating audience "x": persistentvolumeclaim "disk" not found',
        ),
        (
            "csidrivers.storage.k8s.io",
            CLAIMED * 2,
            (
                'error validating audience "x": [csidriver.storage.k8s.io "d" not found, '
                'csidriver.storage.k8s.io "d" not found]'
            ),
        ),
    ],
)
def test_the_audiences_of_a_csi_driver_count(missing: str, volumes: Any, why: str) -> None:
    pod = {**OWN_POD, "spec": {"nodeName": "a", "volumes": volumes}}
    more = {key: each for key, each in STORAGE.items() if key.resource != missing}
    new = {"spec": {"boundObjectRef": BOUND, "audiences": ["x"]}}

    found = said(
        "CREATE",
        "serviceaccounts/token",
        name="robot",
        new=new,
        more=more | {Key("pods", "shop", "web"): pod},
    )

    assert found == why


def certificate_request(common_name: str) -> str:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


REQUESTS = "certificatesigningrequests.certificates.k8s.io"


@pytest.mark.parametrize(
    ("request_", "signer", "why"),
    [
        (certificate_request("system:node:a"), "kubernetes.io/kubelet-serving", ""),
        (certificate_request("jane"), "example.com/signer", ""),
        (
            certificate_request("jane"),
            "kubernetes.io/kube-apiserver-client-kubelet",
            "can only create a node CSR with CN=system:node:a",
        ),
        (
            "AAAA",
            "kubernetes.io/kubelet-serving",
            "unable to parse csr: PEM block type must be CERTIFICATE REQUEST",
        ),
    ],
)
def test_a_node_asks_for_certificates_in_its_own_name(request_: str, signer: str, why: str) -> None:
    new = {"spec": {"request": request_, "signerName": signer}}

    assert said("CREATE", REQUESTS, name="x", new=new) == why


def test_without_the_extra_package_nobody_reads_certificates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    new = {"spec": {"request": "AAAA", "signerName": "kubernetes.io/kubelet-serving"}}

    assert said("CREATE", REQUESTS, name="x", new=new) == ""


def test_a_node_without_a_name_writes_nothing() -> None:
    nobody = UserInfo("system:node:", groups=("system:nodes",))

    assert said("CREATE", "services", user=nobody) == (
        'could not determine node from user "system:node:"'
    )
