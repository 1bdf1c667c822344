"""The node agent as it is deployed: what is applied, and what the agent may then do."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.chart import charted, needs_helm
from tests.patience import Deadline
from tests.real.kube_server import KubeServer

REPOSITORY: Final = Path(__file__).parents[2]
BASE: Final = REPOSITORY / "deploy/kustomize"
HOME_NAMESPACE: Final = "reflet-system"
ACCOUNT: Final = "reflet-node"
NODE: Final = "reflet-node-0"
AGENT: Final = f"system:serviceaccount:{HOME_NAMESPACE}:{ACCOUNT}"
STRANGER: Final = f"system:serviceaccount:{HOME_NAMESPACE}:somebody-else"
PATIENCE: Final = 40.0  # seconds for the agent to do something

EVERYWHERE: Final = {
    "nodes [] [create]",
    f"nodes [{NODE}] [get]",
    f"nodes/status [{NODE}] [patch]",
    "pods [] [list watch]",
    "services [] [list watch]",
    "clustertrustbundles.certificates.k8s.io [] [list watch]",
}
WHERE_SERVED: Final = {
    "configmaps [] [get list watch]",
    "secrets [] [get list watch]",
    "events [] [create patch]",
    "pods/status [] [patch]",
    "serviceaccounts/token [] [create]",
}

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def kubectl(kube: KubeServer, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """Call kubectl as the administrator, and give what it prints."""
    folder = tmp_path_factory.mktemp("kubectl")
    config = kube.write_kubeconfig(folder / "config")

    def call(*arguments: str, given: str = "") -> str:
        finished = subprocess.run(
            ["kubectl", *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "KUBECONFIG": str(config)},
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    return call


@pytest.fixture(scope="module")
def applied(kubectl: Kubectl) -> list[Any]:
    """The objects of the base, applied, with one namespace that is served: ``shop``."""
    rendered = kubectl("kustomize", str(BASE))
    kubectl("apply", "-f", "-", given=rendered)
    kubectl("create", "namespace", "shop")
    kubectl("create", "namespace", "unserved")
    served = kubectl("kustomize", str(BASE / "served-namespace"))
    kubectl("apply", "-n", "shop", "-f", "-", given=served)
    return list(yaml.safe_load_all(rendered))


def pod_template(applied: list[Any]) -> Any:
    [found] = [item for item in applied if item["kind"] == "StatefulSet"]
    return found["spec"]["template"]


def rights(kubectl: Kubectl, who: str, namespace: str) -> set[str]:
    """What somebody may do in a namespace, a line a rule: resources, names, verbs."""
    listed = kubectl("auth", "can-i", "--list", "--no-headers", f"--as={who}", f"-n={namespace}")
    found = set()
    for line in listed.splitlines():
        resource, _, rest = line.partition(" ")
        lists = re.findall(r"\[[^]]*\]", rest)
        if resource and len(lists) == 3:
            found.add(f"{resource} {lists[1]} {lists[2]}")
    return found


def agents_rights(kubectl: Kubectl, namespace: str) -> set[str]:
    """What the agent may do and any other account may not."""
    return rights(kubectl, AGENT, namespace) - rights(kubectl, STRANGER, namespace)


def test_the_agent_may_do_in_a_served_namespace_what_it_must_and_no_more(
    kubectl: Kubectl, applied: list[Any]
) -> None:
    expected = (EVERYWHERE | WHERE_SERVED) - {"pods [] [list watch]"}

    found = agents_rights(kubectl, "shop")

    # Rules about one resource are shown as one.
    pods = {line for line in found if line.startswith("pods ")}
    assert found - pods == expected
    assert sorted(re.findall(r"list|watch|delete|get|create|patch|update", " ".join(pods))) == [
        *("delete", "list", "watch")
    ]


def test_the_agent_may_read_no_configuration_elsewhere(
    kubectl: Kubectl, applied: list[Any]
) -> None:
    assert agents_rights(kubectl, "unserved") == EVERYWHERE


def test_the_agent_may_renew_its_own_lease_only(kubectl: Kubectl, applied: list[Any]) -> None:
    assert agents_rights(kubectl, "kube-node-lease") - EVERYWHERE == {
        "leases.coordination.k8s.io [] [create]",
        f"leases.coordination.k8s.io [{NODE}] [get update]",
    }


def test_the_agent_may_tell_events_of_its_node(kubectl: Kubectl, applied: list[Any]) -> None:
    assert agents_rights(kubectl, "default") - EVERYWHERE == {"events [] [create patch]"}


def test_the_strictest_standard_of_pod_security_takes_the_agents_pod(
    kubectl: Kubectl, applied: list[Any]
) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", **pod_template(applied)}
    pod["metadata"] = {"name": NODE, "namespace": HOME_NAMESPACE}

    said = kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(pod))

    assert said == f"pod/{NODE} created (server dry run)\n"


def test_the_agents_namespace_takes_nothing_less_strict(
    kube: KubeServer, applied: list[Any]
) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", **pod_template(applied)}
    pod["metadata"] = {"name": "loose", "namespace": HOME_NAMESPACE}
    [container] = pod["spec"]["containers"]
    loose = {**container, "securityContext": {**container["securityContext"]}}
    loose["securityContext"]["allowPrivilegeEscalation"] = True
    pod["spec"] = {**pod["spec"], "containers": [loose]}

    answer = kube.request("POST", f"/api/v1/namespaces/{HOME_NAMESPACE}/pods?dryRun=All", pod)

    assert answer.code == 403


def test_with_the_component_for_tls_the_agent_may_ask_who_is_asking(
    kubectl: Kubectl, applied: list[Any], tmp_path: Path
) -> None:
    mine = {"resources": ["base"], "components": ["base/tls"]}
    shutil.copytree(BASE, tmp_path / "base")
    (tmp_path / "kustomization.yaml").write_text(json.dumps(mine))
    rendered = kubectl("kustomize", str(tmp_path))
    name = "reflet-node-reader-reviews"
    [binding] = [item for item in yaml.safe_load_all(rendered) if item["metadata"]["name"] == name]

    said = kubectl("apply", "--dry-run=server", "-f", "-", given=rendered)
    kubectl("apply", "-f", "-", given=json.dumps(binding))
    listing = ("auth", "can-i", "--list", "--no-headers", f"--as={AGENT}", "-n=unserved")
    eventually(kubectl, "tokenreviews", *listing)
    found = agents_rights(kubectl, "unserved")
    kubectl("delete", "clusterrolebinding", name)

    assert "statefulset.apps/reflet-node configured (server dry run)" in said
    assert found - EVERYWHERE == {
        "tokenreviews.authentication.k8s.io [] [create]",
        "subjectaccessreviews.authorization.k8s.io [] [create]",
    }


@needs_helm
def test_the_server_takes_all_that_the_chart_renders(kubectl: Kubectl, applied: list[Any]) -> None:
    settings = (
        *("namespaces={shop}", "run=true", "selector=a=b", "state.size=1Gi", "nodes=2"),
        "tlsSecret=reflet-node-tls",
    )
    objects = charted(*settings, release="edge")
    rendered = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})

    said = kubectl("apply", "--dry-run=server", "-f", "-", given=rendered)

    assert said.count("(server dry run)\n") == len(objects) > 8


@pytest.fixture
def agent(kube: KubeServer, applied: list[Any], tmp_path: Path) -> Iterator[Path]:
    """The agent with the deployed arguments and the deployed identity; gives its root's place."""
    [container] = pod_template(applied)["spec"]["containers"]
    values = {"$(NODE_NAME)": NODE, "$(POD_IP)": "127.0.0.1", ":10248": ":0"}
    arguments = container["args"]
    for name, value in values.items():
        arguments = [argument.replace(name, value) for argument in arguments]
    arguments = [re.sub(r"^--root=.*", f"--root={tmp_path}/root", each) for each in arguments]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "reflet",
                *arguments,
                f"--kubeconfig={as_agent(kube, tmp_path)}",
            ],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            yield tmp_path
        finally:
            process.terminate()
            process.wait(PATIENCE)


def as_agent(kube: KubeServer, folder: Path) -> Path:
    """Write a kubeconfig with a token of the agent's service account."""
    path = f"/api/v1/namespaces/{HOME_NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    config = kube.kubeconfig()
    with kube.connect() as connection:
        token = connection.create(path, request)["status"]["token"]
    config["users"][0]["user"] = {"token": token}
    file = folder / "agent.config"
    file.touch(mode=0o600)
    file.write_text(json.dumps(config))
    return file


def eventually(kubectl: Kubectl, wanted: str, *arguments: str) -> str:
    """Ask until the answer has what is wanted in it; give the last answer."""
    deadline = Deadline(PATIENCE)
    while wanted not in (said := kubectl(*arguments)) and not deadline.passed:
        time.sleep(0.2)
    return said


def pod_with_settings(namespace: str) -> str:
    """A pod of the node that shows a ConfigMap as a file and a Secret as a variable."""
    reference = {"secretKeyRef": {"name": "db", "key": "password"}}
    container = {
        "name": "web",
        "image": "example.com/web",
        "command": ["true"],
        "env": [{"name": "PASSWORD", "valueFrom": reference}],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/web"}],
    }
    spec = {
        "nodeName": NODE,
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "settings"}}],
    }
    password = base64.b64encode(b"opensesame").decode()
    objects: list[dict[str, Any]] = [
        {"kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"color": "blue"}},
        {"kind": "Secret", "metadata": {"name": "db"}, "data": {"password": password}},
        {"kind": "Pod", "metadata": {"name": "web"}, "spec": spec},
    ]
    items = [
        {**item, "apiVersion": "v1", "metadata": {**item["metadata"], "namespace": namespace}}
        for item in objects
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.mark.time_limit(240)
def test_these_rights_are_enough_for_the_agent(
    kubectl: Kubectl, agent: Path, applied: list[Any]
) -> None:
    ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}'
    assert "True" in eventually(kubectl, "True", "get", "nodes", f"-o=jsonpath={ready}")
    kubectl("apply", "-f", "-", given=pod_with_settings("shop"))

    statuses = "-o=jsonpath={.status.containerStatuses}"
    told = eventually(kubectl, "web", "get", "pod", "web", "-n=shop", statuses)
    deadline = Deadline(PATIENCE)
    while not (files := list((agent / "root").rglob("..data/color"))):
        assert not deadline.passed, (agent / "log").read_text()
        time.sleep(0.2)

    assert "web" in told
    assert [file.read_text() for file in files] == ["blue"]
    assert "forbidden" not in (agent / "log").read_text()
    assert NODE in kubectl("get", "lease", "-n=kube-node-lease", "-o=name")
    assert "Starting" in eventually(kubectl, "Starting", "get", "events", "-n=default")
