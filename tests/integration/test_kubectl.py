"""A stock kubectl works with the written kubeconfig and no special flags: one test a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.kubectl_runner import NEEDS_KUBECTL, Kubectl

pytestmark = NEEDS_KUBECTL

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - {name: main, image: "nginx:1", env: [{name: A, value: b}]}
"""
CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {color: red, size: "3"}
"""
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wg]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
"""
WIDGET = """
apiVersion: example.com/v1
kind: Widget
metadata: {name: small}
spec: {size: 1}
"""


def test_apply(kubectl: Kubectl) -> None:
    first = kubectl("apply", "-f", "-", given=CONFIG_MAP)
    same = kubectl("apply", "-f", "-", given=CONFIG_MAP)
    changed = kubectl("apply", "-f", "-", given=CONFIG_MAP.replace("red", "blue"))

    assert first == "configmap/settings created\n"
    assert same == "configmap/settings unchanged\n"
    assert changed == "configmap/settings configured\n"
    assert kubectl.json("get", "cm", "settings")["data"]["color"] == "blue"


def test_apply_of_a_pod_merges_what_the_server_added(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)

    changed = kubectl("apply", "-f", "-", given=POD.replace("nginx:1", "nginx:2"))

    assert changed == "pod/web configured\n"
    spec = kubectl.json("get", "pod", "web")["spec"]
    assert (spec["containers"][0]["image"], spec["restartPolicy"]) == ("nginx:2", "Always")


def test_apply_server_side(kubectl: Kubectl) -> None:
    applied = kubectl("apply", "--server-side", "-f", "-", given=CONFIG_MAP)
    other = CONFIG_MAP.replace("red", "blue")
    refused = kubectl.run(
        "apply", "--server-side", "--field-manager=other", "-f", "-", given=other, code=1
    )

    assert applied == "configmap/settings serverside-applied\n"
    assert "conflict with" in refused.stderr
    assert ".data.color" in refused.stderr


def test_create(kubectl: Kubectl) -> None:
    assert kubectl("create", "configmap", "a", "--from-literal=x=1") == "configmap/a created\n"
    assert kubectl("create", "secret", "generic", "s", "--from-literal=k=v") == "secret/s created\n"
    assert kubectl("create", "-f", "-", given=POD) == "pod/web created\n"
    assert kubectl("create", "serviceaccount", "robot") == "serviceaccount/robot created\n"
    assert kubectl("create", "deployment", "d", "--image=nginx") == "deployment.apps/d created\n"
    assert kubectl("create", "token", "robot").count(".") == 2


def test_create_what_is_wrong_is_refused(kubectl: Kubectl) -> None:
    unknown = kubectl.run("create", "-f", "-", given=POD.replace("image:", "imag:"), code=1)
    twice = CONFIG_MAP.replace("name: settings", "name: Settings")
    named = kubectl.run("create", "-f", "-", given=twice, code=1)

    assert 'unknown field "spec.containers[0].imag"' in unknown.stderr
    assert 'The ConfigMap "Settings" is invalid: metadata.name: Invalid value' in named.stderr


def test_get_a_table(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)

    lines = kubectl("get", "pods").splitlines()

    assert lines[0].split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert lines[1].split()[:4] == ["web", "0/1", "Pending", "0"]


def test_get_wide(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=nginx")

    lines = kubectl("get", "deployments", "-o", "wide").splitlines()

    assert lines[0].split()[-3:] == ["CONTAINERS", "IMAGES", "SELECTOR"]
    assert lines[1].split()[-3:] == ["nginx", "nginx", "app=d"]


def test_get_yaml_and_json(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=CONFIG_MAP)

    assert "\ndata:\n  color: red\n" in kubectl("get", "cm", "settings", "-o", "yaml")
    assert kubectl.json("get", "cm", "settings")["data"] == {"color": "red", "size": "3"}
    assert kubectl.json("get", "cm")["kind"] == "List"


def test_get_and_watch(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "first")
    with kubectl.watch("cm", "--no-headers") as watch:
        assert watch.stdout is not None
        first = watch.stdout.readline()
        kubectl("create", "configmap", "second")
        second = watch.stdout.readline()
        watch.terminate()

    assert (first.split()[0], second.split()[0]) == ("first", "second")


def test_get_everywhere(kubectl: Kubectl) -> None:
    lines = kubectl("get", "services", "-A").splitlines()

    assert lines[0].split()[:2] == ["NAMESPACE", "NAME"]
    assert ["default", "kubernetes", "ClusterIP", "10.96.0.1"] in [
        line.split()[:4] for line in lines
    ]


def test_get_by_labels_and_fields(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=CONFIG_MAP)
    kubectl("create", "configmap", "other")

    by_label = kubectl("get", "cm", "-l", "app=web", "-o", "name")
    by_field = kubectl("get", "cm", "--field-selector", "metadata.name=other", "-o", "name")

    assert (by_label, by_field) == ("configmap/settings\n", "configmap/other\n")


def test_get_all(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)
    kubectl("create", "deployment", "d", "--image=nginx")

    names = kubectl("get", "all", "-o", "name").split()

    assert names == ["pod/web", "deployment.apps/d"]


def test_describe(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)
    kubectl("apply", "-f", "-", given=CONFIG_MAP)
    kubectl("create", "secret", "generic", "s", "--from-literal=password=12345")

    pod = kubectl("describe", "pod", "web")
    config_map = kubectl("describe", "cm", "settings")
    secret = kubectl("describe", "secret", "s")

    assert "Image:" in pod
    assert "Status:       Pending" in pod
    assert "color:\n----\nred" in config_map
    assert "password:  5 bytes" in secret


def test_describe_shows_events(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)
    found = kubectl.json("get", "pod", "web")["metadata"]
    event = f"""
apiVersion: v1
kind: Event
metadata: {{name: web.1}}
involvedObject: {{kind: Pod, name: web, namespace: {found["namespace"]}, uid: {found["uid"]}}}
reason: Pulled
message: pulled the image
type: Normal
"""
    kubectl("create", "-f", "-", given=event)

    assert "pulled the image" in kubectl("describe", "pod", "web")
    assert "pulled the image" in kubectl("events")


def test_edit(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply", "-f", "-", given=CONFIG_MAP)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/color: red/color: green/" "$1"\n')
    editor.chmod(0o755)

    said = kubectl.run("edit", "cm", "settings", EDITOR=str(editor)).stdout

    assert said == "configmap/settings edited\n"
    assert kubectl.json("get", "cm", "settings")["data"]["color"] == "green"


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("json", '[{"op": "replace", "path": "/data/color", "value": "green"}]'),
        ("merge", '{"data": {"color": "green"}}'),
        ("strategic", '{"data": {"color": "green"}}'),
    ],
)
def test_patch(kubectl: Kubectl, kind: str, patch: str) -> None:
    kubectl("apply", "-f", "-", given=CONFIG_MAP)

    assert kubectl("patch", "cm", "settings", "--type", kind, "-p", patch) == (
        "configmap/settings patched\n"
    )
    assert kubectl.json("get", "cm", "settings")["data"] == {"color": "green", "size": "3"}


def test_patch_a_container_by_its_name(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=nginx")
    patch = '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:9"}]}}}}'

    kubectl("patch", "deployment", "d", "-p", patch)

    containers = kubectl.json("get", "deployment", "d")["spec"]["template"]["spec"]["containers"]
    assert [(each["name"], each["image"]) for each in containers] == [("nginx", "nginx:9")]


def test_label_and_annotate(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=CONFIG_MAP)

    kubectl("label", "cm", "settings", "tier=front", "app-")
    kubectl("annotate", "cm", "settings", "note=hello")

    metadata = kubectl.json("get", "cm", "settings")["metadata"]
    assert metadata["labels"] == {"tier": "front"}
    assert metadata["annotations"]["note"] == "hello"


def test_replace(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", given=CONFIG_MAP)

    said = kubectl("replace", "-f", "-", given=CONFIG_MAP.replace("red", "blue"))

    assert said == "configmap/settings replaced\n"
    assert kubectl.json("get", "cm", "settings")["data"]["color"] == "blue"


def test_delete(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)
    kubectl("apply", "-f", "-", given=CONFIG_MAP)

    pod = kubectl("delete", "pod", "web")
    config_maps = kubectl("delete", "cm", "--all")

    assert (pod, config_maps) == ('pod "web" deleted\n', 'configmap "settings" deleted\n')
    assert kubectl("get", "pods,cm") == ""


def test_wait_for_a_value_and_for_a_deletion(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=POD)

    kubectl("wait", "pod/web", "--for=jsonpath={.status.phase}=Pending", "--timeout=10s")
    kubectl("delete", "pod", "web", "--wait=false")

    said = kubectl("wait", "pod/web", "--for=delete", "--timeout=10s")
    assert said in {"", "pod/web condition met\n"}


def test_diff(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=CONFIG_MAP)

    difference = kubectl.run("diff", "-f", "-", given=CONFIG_MAP.replace("red", "blue"), code=1)

    assert "-  color: red\n+  color: blue\n" in difference.stdout
    assert kubectl("diff", "-f", "-", given=CONFIG_MAP) == ""


def test_explain(kubectl: Kubectl) -> None:
    said = kubectl("explain", "configmap.data")

    assert "FIELD: data <map[string]string>" in said
    assert "containers\t<[]Container>" in kubectl("explain", "pod.spec")


def test_api_resources(kubectl: Kubectl) -> None:
    lines = kubectl("api-resources").splitlines()

    assert ["configmaps", "cm", "v1", "true", "ConfigMap"] in [line.split() for line in lines]


def test_auth_can_i(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "delete", "pods") == "yes\n"
    assert "*.*" in kubectl("auth", "can-i", "--list")
    assert "reflet:admin" in kubectl("auth", "whoami")


def test_scale_and_rollout(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=nginx")

    kubectl("scale", "deployment", "d", "--replicas=4")
    kubectl("set", "image", "deployment/d", "nginx=nginx:9")
    kubectl("rollout", "restart", "deployment/d")

    spec = kubectl.json("get", "deployment", "d")["spec"]
    assert spec["replicas"] == 4
    assert spec["template"]["spec"]["containers"][0]["image"] == "nginx:9"


def test_custom_resources(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", given=DEFINITION)
    kubectl("wait", "crd/widgets.example.com", "--for=condition=Established", "--timeout=10s")
    kubectl("apply", "-f", "-", given=WIDGET)

    assert kubectl("get", "wg", "--no-headers").split() == ["small", "1"]
    kubectl("patch", "widget", "small", "--type=merge", "-p", '{"spec":{"size":7}}')
    assert kubectl.json("get", "widgets", "small")["spec"]["size"] == 7
    assert "FIELD: size <integer>" in kubectl("explain", "widget.spec.size")
    kubectl("delete", "crd", "widgets.example.com")


def test_exposed_services_get_an_address(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=nginx")

    kubectl("expose", "deployment", "d", "--port=80")

    assert kubectl.json("get", "service", "d")["spec"]["clusterIP"].startswith("10.96.")


def test_version_and_cluster_info(kubectl: Kubectl) -> None:
    assert "Server Version: v1.36" in kubectl("version")
    assert "is running at" in kubectl("cluster-info")


def test_run(kubectl: Kubectl) -> None:
    assert kubectl("run", "one", "--image=nginx", "--restart=Never") == "pod/one created\n"


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("what", [("cm,pods",), ("cm", "settings"), ("cm", "settings", "other")])
@pytest.mark.parametrize("more", [(), ("--show-managed-fields",)])
def test_reflet_prints_what_kubectl_prints(
    kubectl: Kubectl, form: str, what: tuple[str, ...], more: tuple[str, ...], tmp_path: Path
) -> None:
    other = CONFIG_MAP.replace("settings", "other").replace("red", '"\\n two\\n\\nlines ‹ü› "')
    kubectl("apply", "-f", "-", given=f"{CONFIG_MAP}---{POD}---{other}")
    words = ("get", *what, "-o", form, *more)

    reflet = subprocess.run(
        [sys.executable, "-m", "reflet", *words, "--kubeconfig", str(tmp_path / "kubeconfig")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert reflet.stdout == kubectl(*words)


def test_auth_whoami_as_somebody_else(kubectl: Kubectl) -> None:
    asked = ("--as", "jane", "--as-group", "dev", "--as-group", "ops", "--as-uid", "7")

    found = kubectl.json("auth", "whoami", *asked)["status"]["userInfo"]

    assert found == {
        "username": "jane",
        "uid": "7",
        "groups": ["dev", "ops", "system:authenticated"],
    }


def test_auth_can_i_as_a_node(kubectl: Kubectl) -> None:
    node = ("--as", "system:node:worker-1")

    mine = kubectl("auth", "can-i", "get", "node/worker-1", *node)
    all_secrets = kubectl.run("auth", "can-i", "list", "secrets", *node, code=1)

    assert mine == "yes\n"
    assert all_secrets.stdout == "no - No Object name found\n"


def test_get_as_a_node_that_may_not(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings")

    refused = kubectl.run("get", "configmaps", "--as", "system:node:worker-1", code=1)

    assert refused.stderr.startswith("Error from server (Forbidden): configmaps is forbidden: ")
    assert refused.stderr.endswith(": No Object name found\n")
