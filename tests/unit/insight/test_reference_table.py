"""Which objects name and make ConfigMaps and Secrets: the rows, and the language of paths."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.insight.reference_table import (
    Effect,
    NamedObject,
    always_there,
    built_in,
    has_rows,
    kinds_that_name,
    made_by,
    may_name,
    references_in,
    row_from,
)

PROMETHEUS = "monitoring.coreos.com/v1"


def document(api_version: str, kind: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": "shop", **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, **more}


def named(given: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.namespace, each.name, each.path) for each in references_in(given)]


def made(given: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.namespace, each.name) for each in made_by(given)]


def test_the_names_are_found_with_their_places() -> None:
    ingress = document("networking.k8s.io/v1", "Ingress", {"tls": [{}, {"secretName": "tls"}]})

    (found,) = references_in(ingress)

    assert found == NamedObject(
        kind="Secret",
        namespace="shop",
        name="tls",
        path="spec.tls[1].secretName",
        keys=("tls.crt", "tls.key"),
        effect=Effect.LIVE,
        usage="tls",
    )


def test_the_namespace_stands_beside_the_name() -> None:
    volume = document(
        "v1", "PersistentVolume", {"csi": {"nodeStageSecretRef": {"name": "a", "namespace": "b"}}}
    )
    azure = document(
        "v1", "PersistentVolume", {"azureFile": {"secretName": "a", "secretNamespace": "c"}}
    )

    assert named(volume)[0][:3] == ("Secret", "b", "a")
    assert named(azure)[0][:3] == ("Secret", "c", "a")


def test_steps_with_dots_are_quoted() -> None:
    prefix = "csi.storage.k8s.io/node-publish-secret"
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "x"},
        "parameters": {f"{prefix}-name": "a", f"{prefix}-namespace": "b"},
    }

    assert named(storage) == [("Secret", "b", "a", f'parameters["{prefix}-name"]')]


def test_a_reference_of_another_kind_is_no_secret() -> None:
    refs = [{"name": "a"}, {"name": "b", "kind": "Secret"}, {"name": "c", "kind": "Vault"}]
    gateway = document(
        "gateway.networking.k8s.io/v1",
        "Gateway",
        {"listeners": [{"tls": {"certificateRefs": refs}}]},
    )

    assert [name for _, _, name, _ in named(gateway)] == ["a", "b"]


def test_the_key_stands_beside_the_name_at_any_depth() -> None:
    tls = {"ca": {"configMap": {"name": "ca", "key": "ca.crt"}}, "keySecret": {"name": "k"}}
    monitor = document(PROMETHEUS, "ServiceMonitor", {"endpoints": [{"tlsConfig": tls}]})

    assert [(each.kind, each.name, each.keys) for each in references_in(monitor)] == [
        ("Secret", "k", None),
        ("ConfigMap", "ca", ("ca.crt",)),
    ]


def test_a_name_that_is_made_from_the_objects_own_unless_it_is_given() -> None:
    usual = document(PROMETHEUS, "Alertmanager", {}, metadata={"name": "main"})
    given = document(PROMETHEUS, "Alertmanager", {"configSecret": "mine"})

    assert [name for _, _, name, _ in named(usual)] == ["alertmanager-main"]
    assert [name for _, _, name, _ in named(given)] == ["mine"]


def test_any_custom_resource_is_searched_by_the_usual_names() -> None:
    spec = {"a": [{"secretKeyRef": {"name": "s", "key": "k"}}], "configMapRef": {"name": "c"}}

    assert named(document("example.com/v1", "Thing", spec)) == [
        ("Secret", "shop", "s", "spec.a[0].secretKeyRef.name"),
        ("ConfigMap", "shop", "c", "spec.configMapRef.name"),
    ]
    # Kubernetes' own kinds name nothing but what the table says.
    assert named(document("policy/v1", "PodDisruptionBudget", spec)) == []


def test_what_an_object_makes_is_no_use_of_it() -> None:
    certificate = document("cert-manager.io/v1", "Certificate", {"secretName": "tls"})

    assert named(certificate) == []
    assert made(certificate) == [("Secret", "shop", "tls")]


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "expected"),
    [
        ("external-secrets.io/v1", "ExternalSecret", {}, "x"),
        ("external-secrets.io/v1", "ExternalSecret", {"target": {"name": "t"}}, "t"),
        ("bitnami.com/v1alpha1", "SealedSecret", {}, "x"),
        ("kafka.strimzi.io/v1beta2", "KafkaUser", {}, "x"),
        ("postgresql.cnpg.io/v1", "Cluster", {}, "x-app"),
        ("onepassword.com/v1", "OnePasswordItem", {}, "x"),
        ("secrets.hashicorp.com/v1beta1", "VaultStaticSecret", {"destination": {"name": "v"}}, "v"),
        ("s3.example.org/v1", "Bucket", {"writeConnectionSecretToRef": {"name": "w"}}, "w"),
    ],
)
def test_operators_make_secrets(
    api_version: str, kind: str, spec: dict[str, Any], expected: str
) -> None:
    assert ("Secret", "shop", expected) in made(document(api_version, kind, spec))


def test_an_ingress_makes_its_secret_only_with_cert_managers_annotation() -> None:
    spec = {"tls": [{"secretName": "tls"}]}
    annotated = {"annotations": {"cert-manager.io/cluster-issuer": "le"}}

    assert made(document("networking.k8s.io/v1", "Ingress", spec)) == []
    assert made(document("networking.k8s.io/v1", "Ingress", spec, metadata=annotated)) == [
        ("Secret", "shop", "tls")
    ]


def test_a_name_that_is_made_may_be_a_pattern_and_in_every_namespace() -> None:
    (user,) = made_by(document("acid.zalan.do/v1", "postgresql", {}, metadata={"name": "db"}))
    bundle = next(made_by(document("trust.cert-manager.io/v1alpha1", "Bundle", {})))

    assert user.matches("Secret", "shop", "app.db.credentials.postgresql.acid.zalan.do")
    assert not user.matches("Secret", "other", "app.db.credentials.postgresql.acid.zalan.do")
    assert not user.matches("Secret", "shop", "app")
    assert bundle.matches("ConfigMap", "anywhere", "x")


def test_what_every_cluster_makes_by_itself() -> None:
    assert always_there("ConfigMap", "anywhere", "kube-root-ca.crt")
    assert always_there("ConfigMap", "kube-system", "extension-apiserver-authentication")
    assert not always_there("ConfigMap", "shop", "extension-apiserver-authentication")
    assert always_there("Secret", "shop", "default-token-x7kzq")
    assert not always_there("Secret", "shop", "my-token-value")


def test_the_kinds_to_look_at_are_those_of_the_table_and_known_workloads() -> None:
    secrets, config_maps = kinds_that_name("Secret"), kinds_that_name("ConfigMap")

    assert ("networking.k8s.io", "Ingress") in secrets - config_maps
    assert ("argoproj.io", "Rollout") in secrets & config_maps
    assert has_rows("networking.k8s.io/v1", "Ingress")
    assert not has_rows("example.com/v1", "Thing")


def test_objects_of_kubernetes_that_have_no_row_can_name_nothing() -> None:
    assert may_name("networking.k8s.io/v1", "Ingress")
    assert may_name("example.com/v1", "Thing")
    assert not may_name("rbac.authorization.k8s.io/v1", "ClusterRole")


def test_hostile_objects_name_nothing() -> None:
    specs: tuple[Any, ...] = (None, [], "x", {"tls": "x"}, {"tls": [None, 3, {"secretName": {}}]})
    for spec in specs:
        given = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": spec}
        assert list(references_in(given)) == []
    assert list(references_in({"kind": "Ingress", "metadata": 3})) == []


def test_every_row_of_the_table_names_its_project() -> None:
    tables = built_in()

    assert all(row.project for row in (*tables.references, *tables.makers))
    assert all(each.project and each.kinds for each in tables.workloads)
    assert all(row.change is not Effect.UNMOUNTED for row in tables.references)


ROW: dict[str, Any] = {
    "group": "example.com",
    "kind": ["Thing", "Other"],
    "names": "Secret",
    "path": "spec.values{}.from[].secret",
    "key": "key",
    "change": "restart",
}


def test_a_row_of_a_configuration_file_is_used_like_ours() -> None:
    spec = {"values": {"a": {"from": [{"secret": "s", "key": "k"}]}}}

    (found,) = references_in(document("example.com/v1", "Other", spec), [row_from(ROW)])

    assert (found.name, found.keys, found.effect) == ("s", ("k",), Effect.RESTART)
    assert found.path == "spec.values.a.from[0].secret"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"paht": "x"}, "paht: unknown field; there is as, "),
        ({"names": "Service"}, "names: must be ConfigMap or Secret, not 'Service'"),
        ({"path": "spec..x"}, "path: 'spec..x' is no path such as spec.tls[].secretName"),
        ({"path": 3}, "path: must be text, or a list of texts"),
        ({"path": ["a", ""]}, "path: must be text, or a list of texts"),
        ({"name": "{name}"}, "path: give it, or name, and not both"),
        ({"change": "soon"}, "change: must be one of restart, live, "),
        ({"everywhere": "yes"}, "everywhere: must be true or false"),
        ({"unless": "["}, "unless: '[' is no path"),
        ({"kind": None}, "kind: must be text, or a list of texts"),
        ({"group": 1}, "group: must be text"),
    ],
)
def test_a_mistake_in_a_row_names_the_field(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        row_from({**ROW, **change})

    assert str(raised.value).startswith(said)


@pytest.mark.parametrize("field", ["kind", "names"])
def test_a_row_says_which_kind_names_what(field: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{field}: missing"):
        row_from({name: value for name, value in ROW.items() if name != field})
