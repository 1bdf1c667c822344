"""Files are read as if applied: what is there, what is refused, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import DecodeError, NotFound
from reflet.manifests.applying import read_applied
from reflet.resolution.templates.templates import CustomWorkload
from tests.tills import TILL, till_definition
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
            *(found.pods(), found.nodes(), found.service_accounts(), found.untyped()),
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


def test_an_object_of_somebody_elses_kind_is_there_and_not_checked(tmp_path: Path) -> None:
    found = applied(tmp_path, TILL, TILL.replace("name: till", "name: u"))

    assert [item.object.kind for item in found.objects] == ["Till", "Till"]
    assert found.left_out == ("2 objects of 1 kind were not checked: Till of shop.dev/v1",)
    assert found.refusals == ()


@pytest.mark.parametrize(
    ("claims", "message", "fix"),
    [
        (
            "apiVersion: apps/v1\nkind: Deploymnet",
            'no matches for kind "Deploymnet" in version "apps/v1"',
            "did you mean Deployment?",
        ),
        (
            "apiVersion: extensions/v1beta1\nkind: DaemonSet",
            (
                'no matches for kind "DaemonSet" in version "extensions/v1beta1": '
                "Kubernetes 1.16 removed it"
            ),
            "use apiVersion apps/v1",
        ),
    ],
)
def test_a_kind_that_no_server_has_is_refused(
    tmp_path: Path, claims: str, message: str, fix: str
) -> None:
    (refusal,) = applied(tmp_path, f"{claims}\nmetadata: {{name: a}}\n").refusals

    assert (refusal.message, refusal.fix, refusal.name) == (message, fix, "a")


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


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            NUMBERED_POD,
            6,
            (
                "json: cannot unmarshal number into Go struct field Container.spec.containers.name "
                "of type string"
            ),
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: YQ==\n  b: '!!'\n",
            6,
            "illegal base64 data at input byte 0",
        ),
        (
            (
                "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\n"
                "spec:\n  rules: none\n"
            ),
            5,
            (
                "json: cannot unmarshal string into Go struct field IngressSpec.spec.rules of type "
                "[]v1.IngressRule"
            ),
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  conts: []\n", 5, "conts"),
    ],
)
def test_what_the_server_cannot_decode_is_refused_at_its_line_and_the_rest_is_read(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    found = applied(tmp_path, text, config_map("other"))

    (refusal,) = found.refusals
    (cause,) = refusal.causes
    assert words in refusal.message
    assert words in cause.message
    assert refusal.line_of is not None
    assert refusal.line_of(cause.field) == line
    assert [each.metadata.name for each in found.config_maps()] == ["other"]


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_same_object_in_two_files_of_a_folder_is_two_variants(tmp_path: Path) -> None:
    fixed = "immutable: true"
    write(
        tmp_path,
        one__cm=config_map(data="{a: '1'}", more=fixed),
        two__cm=config_map(data="{a: '2'}", more=fixed),
        two__other=config_map(data="{a: '3'}", more=fixed),
    )

    found = read_applied([str(tmp_path)])

    assert [each.data["a"] for each in found.config_maps()] == ["1", "2", "3"]
    assert found.refusals == ()
    seen = [
        found.object_source(f"{tmp_path}/{place}").config_map("default", "settings")
        for place in ("one/pod.yaml:1", "two/cm.yaml:9", "two/other.yaml:9", "three/a.yaml:1")
    ]
    assert [each.data["a"] for each in seen] == ["1", "2", "3", "3"]  # type: ignore[union-attr]


def test_what_stands_twice_is_told_within_a_file_and_within_a_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        one__cm=f"{config_map()}---\n{config_map()}",
        one__other=config_map(),
        two__cm=config_map(),
    )

    found = read_applied([str(tmp_path)])

    assert [
        (Path(each.earlier.place).name, Path(each.later.place).name) for each in found.duplicates
    ] == [("cm.yaml:1", "cm.yaml:7"), ("cm.yaml:7", "other.yaml:1")]


def test_services_of_two_files_of_a_folder_may_want_the_same_port(tmp_path: Path) -> None:
    service = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\n"
        "spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}\n"
    )
    a, b = service.replace("NAME", "a"), service.replace("NAME", "b")

    assert read_applied([str(write(tmp_path, a=a, b=b))]).refusals == ()
    together = read_applied([f"{tmp_path}/a.yaml", f"{tmp_path}/b.yaml"])
    assert "provided port is already allocated" in together.refusals[0].message


def test_a_node_port_that_nobody_chose_is_no_failure_when_the_type_changes(tmp_path: Path) -> None:
    service = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
        "spec: {type: TYPE, ports: [{port: 80}]}\n"
    )
    kinds = [service.replace("TYPE", kind) for kind in ("NodePort", "ClusterIP", "LoadBalancer")]

    found = applied(tmp_path, *kinds)

    assert (len(found.services()), found.refusals) == (1, ())


def test_in_a_folder_a_template_for_something_else_is_left_out(tmp_path: Path) -> None:
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec: {replicas: '${REPLICAS}'}\n"
    )
    blank = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ##NAME##\n"
    write(tmp_path, blank=blank, name=config_map("$NAME"), number=deployment)

    found = read_applied([str(tmp_path)])

    assert (found.objects, found.refusals) == ((), ())
    (said,) = found.left_out
    assert said.startswith("skipped 3 files: 3 other templates (")


def test_definitions_count_wherever_they_stand(tmp_path: Path) -> None:
    definition = till_definition("{type: object, properties: {size: {type: integer}}}")

    found = applied(tmp_path, f"{TILL}spec: {{size: big, colour: red}}\n", TILL, definition)

    (refusal,) = found.refusals
    assert 'unknown field "spec.colour"' in refusal.message
    assert [item.object.kind for item in found.objects] == ["CustomResourceDefinition", "Till"]
    assert found.left_out == ()


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

    (refusal,) = read_applied([str(path)]).refusals

    assert str(refusal).endswith(
        "half.json:1: the API server would refuse it: not valid Unicode text"
    )


def test_no_error_shows_the_value_of_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: 'geheim geheim'}\n"
    )

    (refusal,) = read_applied([str(path)]).refusals

    assert "illegal base64" in refusal.message
    assert "geheim" not in f"{refusal} {refusal.causes}"


def test_the_annotations_of_a_refused_object_are_known(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web, annotations: {reflet.dev/ignore: x}}\n"
    )

    (refusal,) = read_applied([str(tmp_path)]).refusals

    assert refusal.annotations == {"reflet.dev/ignore": "x"}


ROLLOUT = """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: roll}
spec:
  template:
    spec:
      containers: [{name: c, image: i}]
      volumes: [{name: v, secret: {secretName: s}}]
"""


def test_a_custom_resource_with_a_template_is_a_workload_with_the_defaults_of_pods(
    tmp_path: Path,
) -> None:
    found = applied(tmp_path, ROLLOUT)

    (workload,) = found.workloads()
    assert isinstance(workload, CustomWorkload)
    assert (workload.kind, workload.template_path) == ("Rollout", "spec.template")
    (volume,) = workload.template.spec.volumes
    assert volume.secret is not None
    assert volume.secret.default_mode == 0o644
    assert found.remarks == ()


def test_a_template_that_cannot_be_read_is_remarked_on(tmp_path: Path) -> None:
    found = applied(
        tmp_path, ROLLOUT.replace("image: i}", 'image: i, ports: [{containerPort: "x"}]}')
    )

    assert found.workloads() == ()
    assert any(
        "the template at spec.template cannot be read" in str(each) for each in found.remarks
    )


def test_a_list_without_a_list_of_items_is_refused(tmp_path: Path) -> None:
    (refusal,) = applied(tmp_path, "apiVersion: v1\nkind: List\nitems: {}\n").refusals

    assert refusal.message == "items: expected a list"
