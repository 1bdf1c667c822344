"""Files are read as if applied: what is there, what is refused, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import DecodeError, NotFound
from reflet.manifests.applied import read_applied
from tests.unit.manifests.texts import POD, applied, config_map

NUMBERED_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: 7
    image: i
"""


def test_objects_come_typed_with_the_lines_where_they_begin(tmp_path: Path) -> None:
    found = applied(tmp_path, config_map("a"), POD)

    assert [(item.place, item.object.kind) for item in found.objects] == [
        (f"{tmp_path}/manifests.yaml:1", "ConfigMap"),
        (f"{tmp_path}/manifests.yaml:7", "Pod"),
    ]


def test_json_and_lists_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(
        '{"apiVersion": "v1", "kind": "List", "items": [\n'
        '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},\n'
        '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}}]}'
    )

    found = read_applied([str(path)])

    assert [item.place for item in found.objects] == [f"{path}:2", f"{path}:3"]
    assert (len(found.config_maps()), len(found.secrets())) == (1, 1)


def test_every_kind_has_its_own_list(tmp_path: Path) -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {cpu: 4}}\n"
    account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa}\n"
    ingress = (
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\n"
        "spec: {defaultBackend: {service: {name: w, port: {number: 80}}}}\n"
    )
    service = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
        "spec: {clusterIP: 10.0.0.9, ports: [{port: 80}]}\n"
    )
    deployment = """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: d}
        spec:
          selector: {matchLabels: {a: b}}
          template:
            metadata: {labels: {a: b}}
            spec: {containers: [{name: c, image: i}]}
        """

    found = applied(tmp_path, POD, node, account, ingress, service, deployment)

    names = [
        [item.metadata.name for item in items]
        for items in (
            *(found.pods(), found.nodes(), found.service_accounts(), found.ingresses()),
            *(found.services(), found.workloads()),
        )
    ]
    assert names == [["web"], ["node-1"], ["sa"], ["i"], ["s"], ["d"]]
    assert found.nodes()[0].status.allocatable == {"cpu": "4"}


def test_of_two_documents_for_one_object_the_later_one_counts(tmp_path: Path) -> None:
    found = applied(tmp_path, config_map(data="{a: '1'}"), config_map(data="{b: '2'}"))

    (only,) = found.config_maps()
    assert only.data == {"b": "2"}


def test_what_must_not_change_is_refused_and_stays(tmp_path: Path) -> None:
    found = applied(
        tmp_path,
        config_map(data="{a: '1'}", more="immutable: true"),
        config_map(data="{a: '2'}", more="immutable: true"),
    )

    assert found.config_maps()[0].data == {"a": "1"}
    words = "data: Forbidden: field is immutable when `immutable` is set"
    assert [(item.place, item.message) for item in found.refusals] == [
        (f"{tmp_path}/manifests.yaml:7", f'ConfigMap "settings" is invalid: {words}')
    ]


def test_a_refused_object_does_not_exist_for_the_others(tmp_path: Path) -> None:
    found = applied(tmp_path, config_map("Not_A_Name", data="{a: '1'}"))

    (refusal,) = found.refusals
    assert (refusal.kind, refusal.namespace, refusal.name) == ("ConfigMap", "default", "Not_A_Name")
    assert isinstance(found.object_source().config_map("default", "Not_A_Name"), NotFound)


def test_an_object_of_the_files_is_found_by_its_name(tmp_path: Path) -> None:
    found = applied(tmp_path, config_map("a"), namespace="shop")

    assert found.object_source().config_map("shop", "a") == found.config_maps()[0]
    assert found.place_of("ConfigMap", "shop", "a") == f"{tmp_path}/manifests.yaml:1"
    assert found.place_of("ConfigMap", "default", "a") == ""


def test_a_kind_that_is_not_known_is_ignored_with_a_remark(tmp_path: Path) -> None:
    found = applied(tmp_path, "apiVersion: shop.dev/v1\nkind: Till\nmetadata: {name: t}\n")

    assert found.objects == ()
    assert [str(item) for item in found.remarks] == [
        f"{tmp_path}/manifests.yaml:1: Till of shop.dev/v1 is not a kind known here, so ignored"
    ]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("{ports: [{port: 80}]}", True),
        ("{clusterIP: None, ports: [{port: 80}]}", False),
        ("{clusterIP: 10.0.0.1, ports: [{port: 80}]}", False),
        ("{type: ExternalName, externalName: example.com}", False),
    ],
)
def test_a_service_whose_address_only_a_cluster_knows_is_remarked_on(
    tmp_path: Path, spec: str, said: bool
) -> None:
    found = applied(tmp_path, f"apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {spec}")

    assert [("has no clusterIP here" in item.message) for item in found.remarks] == [True] * said


def test_two_pods_with_a_name_to_come_are_two(tmp_path: Path) -> None:
    unnamed = POD.replace("name: web}\nspec", "generateName: web-}\nspec")

    assert len(applied(tmp_path, unnamed, unnamed).pods()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", ":1: did not find expected ',' or ']'"),
        ("just text\n", ":1: expected an object with apiVersion and kind"),
        ("kind: Pod\n", ":1: apiVersion is missing"),
        (
            NUMBERED_POD,
            ":6: Pod web: spec.containers[0].name: expected a string, not an integer",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: YQ==\n  b: '!!'\n",
            ':6: Secret s: data["b"]: not valid base64',
        ),
    ],
)
def test_what_cannot_be_an_object_is_named_with_file_and_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)

    with pytest.raises(DecodeError) as caught:
        read_applied([str(path)])

    assert str(caught.value) == f"{path}{message}"


def test_malformed_json_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"apiVersion": "v1",\n "kind" "Pod"}')

    with pytest.raises(DecodeError, match=r"bad\.json:2: "):
        read_applied([str(path)])


def test_half_a_character_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "half.json"
    path.write_text(
        '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},'
        ' "data": {"k": "\\ud800"}}'
    )

    with pytest.raises(DecodeError, match=r"half\.json:1: not valid Unicode text"):
        read_applied([str(path)])


def test_no_error_shows_the_value_of_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: 'geheim geheim'}\n"
    )

    with pytest.raises(DecodeError) as caught:
        read_applied([str(path)])

    assert "geheim" not in str(caught.value)
