"""A document becomes what the API server would store, and nothing that only a server knows."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.errors import ApiError, BadRequest, Invalid
from reflet.manifests.acceptance import Accepting, KnownKinds


def accept(accepting: Accepting, document: dict[str, Any]) -> dict[str, Any]:
    kind = accepting.kind_of(document)
    assert kind is not None
    return accepting.accept(kind, document)[1]


@pytest.fixture
def accepting() -> Accepting:
    return Accepting("shop")


def pod(metadata: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata or {"name": "web"},
        "spec": {"containers": [{"name": "web", "image": "i"}], **more.pop("spec", {})},
        **more,
    }


def service(name: str, **spec: Any) -> dict[str, Any]:
    ports = [{"port": 80}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": ports, **spec},
    }


def test_defaults_of_pods_come_first(accepting: Accepting) -> None:
    container = {
        "name": "web",
        "image": "i",
        "resources": {"limits": {"cpu": 1}},
        "env": [
            {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        ],
    }
    volumes = [{"name": "v", "configMap": {"name": "c"}}]

    made = accept(accepting, pod(spec={"containers": [container], "volumes": volumes}))["spec"]

    (got,) = made["containers"]
    assert made["enableServiceLinks"] is True
    assert made["volumes"][0]["configMap"]["defaultMode"] == 0o644
    assert got["resources"]["requests"] == {"cpu": "1"}
    assert got["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert got["env"][1]["valueFrom"]["resourceFieldRef"]["divisor"] == "0"


def test_text_of_a_secret_is_folded_into_its_data(accepting: Accepting) -> None:
    made = accept(
        accepting,
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s"},
            "data": {"a": "YQ==", "b": "YQ=="},
            "stringData": {"b": "b"},
        },
    )

    assert (made["data"], made.get("stringData")) == ({"a": "YQ==", "b": "Yg=="}, None)


def test_a_namespace_that_is_missing_is_the_one_that_was_given(accepting: Accepting) -> None:
    places = [
        accept(accepting, pod(metadata))["metadata"]["namespace"]
        for metadata in ({"name": "a"}, {"name": "b", "namespace": "other"})
    ]

    assert places == ["shop", "other"]


def test_no_identity_time_or_name_is_made_up(accepting: Accepting) -> None:
    made = accept(accepting, pod({"generateName": "web-"}))["metadata"]

    assert made.keys().isdisjoint({"uid", "creationTimestamp", "name", "resourceVersion"})


def test_no_address_or_port_is_made_up(accepting: Accepting) -> None:
    made = accept(accepting, service("web", type="NodePort"))["spec"]

    assert made.keys().isdisjoint({"clusterIP", "clusterIPs"})
    assert "nodePort" not in made["ports"][0]
    assert made["ports"][0]["protocol"] == "TCP"


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.7.9", "None"])
def test_any_address_that_is_given_is_kept(accepting: Accepting, address: str) -> None:
    assert accept(accepting, service("web", clusterIP=address))["spec"]["clusterIP"] == address


def test_an_address_of_another_family_is_kept(accepting: Accepting) -> None:
    made = accept(accepting, service("web", clusterIP="fd00::1", ipFamilies=["IPv6"]))

    assert made["spec"]["clusterIP"] == "fd00::1"


@pytest.mark.parametrize(
    "asked",
    [
        {"ipFamilies": ["IPv6"]},
        {"ipFamilies": ["IPv6", "IPv4"], "ipFamilyPolicy": "RequireDualStack"},
        {"ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "PreferDualStack"},
        {"ipFamilyPolicy": "RequireDualStack"},
        {
            "clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1", "fd00::1"],
            "ipFamilies": ["IPv4", "IPv6"],
            "ipFamilyPolicy": "RequireDualStack",
        },
    ],
)
def test_a_cluster_may_have_both_families(accepting: Accepting, asked: dict[str, Any]) -> None:
    for _ in range(2):  # the second time as an update
        made = accept(accepting, service("web", **asked))["spec"]

    assert made.items() >= asked.items()
    assert ("clusterIP" in made) == ("clusterIP" in asked)


def test_families_still_have_to_fit_each_other(accepting: Accepting) -> None:
    with pytest.raises(ApiError, match="must be 'RequireDualStack' or 'PreferDualStack'"):
        accept(accepting, service("web", ipFamilies=["IPv4", "IPv6"], ipFamilyPolicy="SingleStack"))


def test_an_address_cannot_be_had_twice(accepting: Accepting) -> None:
    accept(accepting, service("a", clusterIP="10.0.0.1"))

    with pytest.raises(ApiError, match="provided IP is already allocated"):
        accept(accepting, service("b", clusterIP="10.0.0.1"))


def test_the_same_service_twice_keeps_its_address(accepting: Accepting) -> None:
    accept(accepting, service("a", clusterIP="10.0.0.1"))

    assert accept(accepting, service("a"))["spec"]["clusterIP"] == "10.0.0.1"


def test_the_selector_of_a_job_is_the_servers_and_its_labels_are_not_made_up(
    accepting: Accepting,
) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {"template": template},
    }

    labels = accept(accepting, job)["spec"]["template"]["metadata"]["labels"]

    assert labels == {"batch.kubernetes.io/job-name": "j", "job-name": "j"}


def test_a_dumped_pod_keeps_its_identity_its_status_and_its_ephemeral_containers(
    accepting: Accepting,
) -> None:
    metadata = {"name": "web", "uid": "u-1", "resourceVersion": "12", "managedFields": []}
    debugger = {"name": "d", "image": "i", "targetContainerName": "web"}

    made = accept(
        accepting,
        pod(metadata, spec={"ephemeralContainers": [debugger]}, status={"podIP": "10.1.2.3"}),
    )

    assert (made["metadata"]["uid"], made["metadata"]["resourceVersion"]) == ("u-1", "12")
    assert made["status"]["podIP"] == "10.1.2.3"
    assert made["spec"]["ephemeralContainers"][0]["name"] == "d"


def test_a_new_pod_with_ephemeral_containers_is_refused(accepting: Accepting) -> None:
    with pytest.raises(ApiError, match="ephemeralContainers: Forbidden: cannot be set on create"):
        accept(accepting, pod(spec={"ephemeralContainers": [{"name": "d", "image": "i"}]}))


def test_the_status_of_other_kinds_is_the_servers(accepting: Accepting) -> None:
    made = accept(accepting, {**service("a"), "status": {"loadBalancer": {"ingress": []}}})

    assert made["status"] == {"loadBalancer": {}}


def test_an_unknown_field_is_refused_as_kubectl_has_it_refused(accepting: Accepting) -> None:
    with pytest.raises(ApiError, match=r'strict decoding error: unknown field "spec\.contaners"'):
        accept(accepting, pod(spec={"contaners": []}))


def test_each_unknown_field_is_a_cause_of_its_own(accepting: Accepting) -> None:
    with pytest.raises(BadRequest) as caught:
        accept(accepting, pod(spec={"contaners": [], "nodename": "a"}))

    assert [cause.field for cause in caught.value.causes] == ["spec.contaners", "spec.nodename"]


def test_a_wrong_type_is_no_object_at_all(accepting: Accepting) -> None:
    with pytest.raises(BadRequest, match="cannot unmarshal"):
        accept(accepting, pod(spec={"containers": "web"}))


def definition(*, served: bool = True) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    }
    version = {"name": "v1", "served": served, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "tills.shop.dev"},
        "spec": {
            "group": "shop.dev",
            "scope": "Namespaced",
            "names": {"plural": "tills", "singular": "till", "kind": "Till", "listKind": "Tills"},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def till(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "shop.dev/v1", "kind": "Till", "metadata": {"name": "t"}, "spec": spec}


def test_objects_of_a_kind_that_was_defined_are_checked_by_its_schema() -> None:
    kinds = KnownKinds()
    accepting = Accepting("shop", kinds)
    kinds.define(accept(accepting, definition()))

    made = accept(accepting, till(size=3))

    assert (made["metadata"]["namespace"], made["spec"]) == ("shop", {"size": 3})
    with pytest.raises(Invalid, match="must be of type integer"):
        accept(accepting, till(size="3"))
    with pytest.raises(BadRequest, match=r'unknown field "spec\.sise"'):
        accept(accepting, till(sise=3))


def test_a_version_that_is_not_served_is_not_known() -> None:
    kinds = KnownKinds()
    kinds.define(definition(served=False))

    assert kinds.of(till()) is None


def test_kinds_that_are_not_known_or_not_kept_are_none(accepting: Accepting) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}

    kinds = [accepting.kind_of(each) for each in ({"apiVersion": "x/v1", "kind": "Foo"}, review)]

    assert kinds == [None, None]


def test_what_is_refused_can_be_read_as_it_was_written(accepting: Accepting) -> None:
    ports = [{"containerPort": 80, "protocol": "tcp"}]
    document = pod(spec={"containers": [{"name": "web", "image": "i", "ports": ports}], "typo": 1})
    kind = accepting.kind_of(document)
    assert kind is not None

    made = accepting.as_written(kind, document)

    assert isinstance(made, Pod)
    assert (made.metadata.name, made.metadata.namespace) == ("web", "shop")
    assert made.spec.enable_service_links is True
    assert made.spec.containers[0].name == "web"


def test_what_cannot_be_read_is_nothing(accepting: Accepting) -> None:
    document = pod(spec={"containers": "web"})
    kind = accepting.kind_of(document)
    assert kind is not None

    assert accepting.as_written(kind, document) is None
