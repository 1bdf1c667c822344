import sys
from subprocess import run

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.api.unstructured import AnyObject
from reflet.api.yaml.text import read_manifests, read_values, write_yaml, write_yaml_documents
from reflet.errors import DecodeError

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  motd: |
    hello
    world
"""
BAD_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
  - name: web
    env:
    - name: A
      value: "1"
    - name: B
      value: 2
"""


def names(text: str | bytes) -> list[tuple[str, str]]:
    return [
        (manifest.object.kind, manifest.object.metadata.name)  # type: ignore[union-attr]  # all have
        for manifest in read_manifests(text, source="f.yaml")
    ]


def test_each_document_is_an_object_that_knows_where_it_came_from() -> None:
    first, second = read_manifests(f"{CONFIG_MAP}---\n---\n{CONFIG_MAP}", source="f.yaml")

    assert first.object == ConfigMap(
        metadata=ObjectMeta(name="settings"), data={"motd": "hello\nworld\n"}
    )
    assert (first.place, second.place) == ("f.yaml:1", "f.yaml:11")


def test_a_list_gives_its_items() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n"
        "- {apiVersion: v1, kind: PodList, items: [{metadata: {name: b}}]}\n"
    )

    assert names(text) == [("Secret", "a"), ("Pod", "b")]
    assert [manifest.line for manifest in read_manifests(text)] == [4, 5]


def test_the_items_of_a_typed_list_get_their_lists_kind() -> None:
    text = "apiVersion: example.com/v1\nkind: PumpList\nitems:\n- metadata: {name: p}\n"

    assert names(text) == [("Pump", "p")]


def test_an_empty_list_gives_nothing() -> None:
    assert names("apiVersion: v1\nkind: List\nitems: []\n") == []
    assert names("apiVersion: v1\nkind: List\nitems:\n") == []


def test_a_custom_resource_may_be_called_list_without_being_one() -> None:
    assert names("apiVersion: x/v1\nkind: TodoList\nmetadata: {name: t}\n") == [("TodoList", "t")]


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        (
            BAD_POD,
            (
                "f.yaml:11: Pod shop/web: spec.containers[0].env[1].value: "
                "expected a string, not an integer"
            ),
            "spec.containers[0].env[1].value",
        ),
        ("kind: Pod\n", "f.yaml:1: Pod: apiVersion: missing", "apiVersion"),
        ("\n\n- a\n", "f.yaml:3: expected an object", ""),
        ("hello", "f.yaml:1: expected an object", ""),
        ("apiVersion: v1\nkind: List\nitems: [5]", "f.yaml:3: expected an object", ""),
        (
            "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: s}\n  data:\n    k: '*'",
            'f.yaml:6: Secret s: data["k"]: not valid base64',
            'data["k"]',
        ),
        ("a: b: c", "f.yaml:1: mapping values are not allowed", ""),
    ],
)
def test_a_mistake_is_named_by_file_and_line(text: str, message: str, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_manifests(text, source="f.yaml")

    assert str(caught.value).startswith(message)
    assert caught.value.path == path


def test_bytes_that_are_not_text_are_named_by_their_line() -> None:
    with pytest.raises(DecodeError, match=r"f\.yaml:2: not valid UTF-8"):
        read_manifests(b"a: b\nc: \xff", source="f.yaml")


def test_json_may_have_tabs_and_follow_json() -> None:
    document = '{\n\t"apiVersion": "v1",\n\t"kind": "Secret",\n\t"metadata": {"name": "%s"}\n}\n'

    assert names(document % "a" + document % "b") == [("Secret", "a"), ("Secret", "b")]


def test_a_byte_order_mark_is_ignored() -> None:
    assert names(b"\xef\xbb\xbf" + CONFIG_MAP.encode()) == [("ConfigMap", "settings")]


def test_emoji_in_json_escapes_survive() -> None:
    text = (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},'
        '"data":{"e":"\\ud83d\\ude00"}}'
    )

    (manifest,) = read_manifests(text)

    assert isinstance(manifest.object, ConfigMap)
    assert manifest.object.data == {"e": "😀"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"apiVersion": "v1",\n"kind": "ConfigMap",\n"metadata": {"name": 5}}', "f.yaml:3: Conf"),
        ('{"a": "\\ud800"}', "f.yaml:1: "),
        ('{"a": [' + "[" * 100_000, "f.yaml:1: nested too deeply"),
        ('{\n\t"a": 1\n\t"b": 2}', "f.yaml:3: malformed JSON"),
        ("{{ .Values.x }}", "f.yaml:1: a key must be"),
    ],
)
def test_a_mistake_in_json_has_a_line_too(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_manifests(text, source="f.yaml")

    assert str(caught.value).startswith(message)


def test_numbers_are_read_as_kubernetes_reads_them() -> None:
    (manifest,) = read_manifests(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
        "  containers:\n  - {name: a, resources: {limits: {cpu: 1, memory: 0.5}}}\n"
        "  volumes:\n  - {name: x, configMap: {name: c, defaultMode: 0644}}\n"
    )

    assert isinstance(manifest.object, Pod)
    assert manifest.object.spec.containers[0].resources.limits == {"cpu": "1", "memory": "0.5"}
    volume = manifest.object.spec.volumes[0].config_map
    assert volume is not None
    assert volume.default_mode == 0o644


def test_yaml_is_written_as_kubectl_writes_it() -> None:
    settings = ConfigMap(
        metadata=ObjectMeta(name="a", labels={"b": "yes", "a": "1", "c": "x"}),
        data={"motd": "hello\nworld\n", "list": "- a: b", "empty": "", "long": "word " * 40 + "."},
    )

    assert write_yaml(settings) == (
        "apiVersion: v1\n"
        "data:\n"
        '  empty: ""\n'
        "  list: '- a: b'\n"
        f"  long: {'word ' * 40}.\n"
        "  motd: |\n"
        "    hello\n"
        "    world\n"
        "kind: ConfigMap\n"
        "metadata:\n"
        "  labels:\n"
        '    a: "1"\n'
        '    b: "yes"\n'
        "    c: x\n"
        "  name: a\n"
    )


def test_a_secret_is_written_with_its_values() -> None:
    assert "  k: aGk=\n" in write_yaml(Secret(data={"k": b"hi"}))


def test_any_object_is_written_whole() -> None:
    pump = AnyObject(b'{"kind":"Pump","metadata":{"name":"p"},"spec":{"list":[{"b":1,"a":null}]}}')

    assert write_yaml(pump) == (
        "kind: Pump\nmetadata:\n  name: p\nspec:\n  list:\n  - a: null\n    b: 1\n"
    )


def test_several_objects_are_several_documents() -> None:
    text = write_yaml_documents([ConfigMap(metadata=ObjectMeta(name=name)) for name in "ab"])

    assert names(text) == [("ConfigMap", "a"), ("ConfigMap", "b")]


def test_yaml_is_imported_only_when_it_is_needed() -> None:
    script = "import sys, reflet.api.yaml.text; print('yaml' in sys.modules)"

    done = run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_values_come_with_their_lines_before_they_become_objects() -> None:
    text = "kind: List\nitems:\n- kind: Unknown\n  spec:\n    deep: 1\n---\nkind: Other\n"

    values = list(read_values(text, source="f.yaml"))

    assert [(each.value["kind"], each.line) for each in values] == [("Unknown", 3), ("Other", 7)]
    assert values[0].line_of("spec.deep") == 5


@pytest.mark.parametrize("text", ["\u202eabc", "a\nb\u2066c", "\x85", "\x9b31m", "a\x7f"])
def test_what_has_power_over_a_terminal_is_written_as_escapes(text: str) -> None:
    written = write_yaml({text: text})

    assert not set("\u202e\u2066\x85\x9b\x7f") & set(written)
    assert [placed.value for placed in read_values(written + "apiVersion: v1\n")] == [
        {text: text, "apiVersion": "v1"}
    ]


def test_a_date_in_several_lines_stays_a_block() -> None:
    assert write_yaml({"a": "2026-01-01\nb\n"}) == "a: |\n  2026-01-01\n  b\n"


def test_what_kubectl_accepts_is_accepted() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
        'data:\n  k: old\n  k: new\n  q: "it\\\'s"\n'
    )

    (manifest,) = read_manifests(text)

    assert isinstance(manifest.object, ConfigMap)
    assert manifest.object.data == {"k": "new", "q": "it's"}
    (placed,) = read_values(text)
    assert [(warning.line, warning.kind) for warning in placed.warnings] == [
        (6, "repeated key"),
        (7, "escape"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "kind: List\nkind: List\nitems:\n- {kind: A}\n- kind: B\n  b: 1\n  b: 2\n- {kind: C}\n",
        (
            '{"kind": "List",\n"kind": "List", "items": [\n\t{"kind": "A"},\n'
            '\t{"kind": "B",\n"b": 1,\n"b": 2},\n{"kind": "C"}]}'
        ),
    ],
)
def test_a_warning_goes_with_the_item_it_is_in_or_else_with_the_first(text: str) -> None:
    found = {placed.value["kind"]: placed.warnings for placed in read_values(text)}

    assert [warning.line for warning in found["A"]] == [2]
    assert [warning.line for warning in found["B"]] == [7 if "\t" not in text else 6]
    assert found["C"] == ()


def test_the_warnings_of_a_list_in_a_list_stay_with_their_item() -> None:
    text = (
        "kind: List\nitems:\n- kind: A\n- kind: List\n  items:\n"
        "  - kind: B\n  - {kind: C, c: 1, c: 2}\n"
    )

    assert [len(placed.warnings) for placed in read_values(text)] == [0, 0, 1]
