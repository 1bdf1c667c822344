"""A pod of the files comes with its surroundings, as far as the files tell."""

from __future__ import annotations

from pathlib import Path

from reflet.api.core.config import ConfigMap
from reflet.api.core.nodes import Node
from reflet.podconfig.gather_files import pod_inputs_from_files
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.resource_fields import UNKNOWN_NODE
from tests.unit.cli.shop_files import SHOP, config_map, pod

NODE = (
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {cpu: 4}}\n"
)
LIMIT = "env: [{name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]"


def gathered(folder: Path, text: str, namespace: str = "") -> PodInputs:
    path = folder / "f.yaml"
    path.write_text(text)
    return pod_inputs_from_files([str(path)], namespace=namespace)


def test_a_workload_is_told_from_a_pod(tmp_path: Path) -> None:
    every = [gathered(tmp_path, text) for text in (SHOP, pod())]

    assert [(inputs.target, inputs.from_template) for inputs in every] == [
        ("deployment/web", True),
        ("pod/web", False),
    ]


def test_objects_without_a_namespace_get_the_flags_one(tmp_path: Path) -> None:
    inputs = gathered(tmp_path, pod() + config_map("{a: b}"), "shop")

    assert inputs.objects is not None
    found = inputs.objects.config_map("shop", "settings")

    assert isinstance(found, ConfigMap)
    assert (found.data, inputs.namespace) == ({"a": "b"}, "shop")
    assert inputs.known_objects == (("ConfigMap", "shop", "settings"),)


def test_the_node_is_the_one_that_the_pod_names(tmp_path: Path) -> None:
    text = pod(LIMIT).replace("  containers:", "  nodeName: node-1\n  containers:")

    every = [gathered(tmp_path, text + more) for more in (NODE, NODE.replace("node-1", "node-2"))]

    assert isinstance(every[0].node, Node)
    assert every[1].node is UNKNOWN_NODE


def test_the_only_node_stands_for_one_that_is_not_chosen_yet_and_it_is_said(tmp_path: Path) -> None:
    inputs = gathered(tmp_path, pod(LIMIT) + NODE)

    assert inputs.environment("web").values == {"CPU": "4"}
    assert inputs.remarks == ("the pod has no node; its limits are shown as if it were on node-1",)


def test_without_a_node_what_only_a_node_knows_is_not_known(tmp_path: Path) -> None:
    environment = gathered(tmp_path, pod(LIMIT)).environment("web")

    assert not environment.variables["CPU"].assignment.known
