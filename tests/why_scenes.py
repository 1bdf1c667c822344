"""Scenes for ``reflet why`` about more than a pod: the same on our server and a real one.

Owns: the objects, their statuses as controllers and kubelets write them, and what is said about
them.  Must not know which server it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.insight_scenes import CANARY, Commands, Create

SetStatus = Callable[[str, Mapping[str, Any], Mapping[str, Any]], None]
"""Writes the status of an object, given the path of its collection and the object as it is."""

APPS: Final = "/apis/apps/v1"
Raw = dict[str, Any]
READING: Final = {
    "name": "PASSWORD",
    "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}},
}


def deployment(name: str, replicas: int = 1, **pods: Any) -> Raw:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(**pods)},
        },
    }


def _pod_spec(**more: Any) -> Raw:
    env = more.pop("env", [])
    container = {"name": "web", "image": "example.com/web:1", "env": env}
    return {"enableServiceLinks": False, "containers": [container], **more}


def replica_set(owner: Mapping[str, Any], replicas: int = 1) -> Raw:
    """Return the first ReplicaSet of a Deployment."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            **_owned(owner, "apps/v1", "Deployment"),
            "name": f"{owner['metadata']['name']}-1",
            "labels": owner["spec"]["template"]["metadata"]["labels"],
            "annotations": {"deployment.kubernetes.io/revision": "1"},
        },
        "spec": {
            "replicas": replicas,
            "selector": owner["spec"]["selector"],
            "template": owner["spec"]["template"],
        },
    }


def pod(owner: Mapping[str, Any], number: int = 0, **more: Any) -> Raw:
    """Return a pod of a ReplicaSet."""
    template = owner["spec"]["template"]
    return {
        "metadata": {
            **_owned(owner, "apps/v1", "ReplicaSet"),
            "name": f"{owner['metadata']['name']}-{number}",
            "labels": template["metadata"]["labels"],
        },
        "spec": {**template["spec"], **more},
    }


def _owned(owner: Mapping[str, Any], version: str, kind: str) -> Raw:
    reference = {
        "apiVersion": version,
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    return {"ownerReferences": [reference]}


def waiting(reason: str, message: str) -> Raw:
    return {
        "phase": "Pending",
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
        "containerStatuses": [_container({"waiting": {"reason": reason, "message": message}})],
    }


def _container(state: Raw, **more: Any) -> Raw:
    head = {"name": "web", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    return {**head, "state": state, **more}


READY_NODE: Final = {"conditions": [{"type": "Ready", "status": "True"}]}
RUNNING: Final = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [
        _container({"running": {"startedAt": "2026-01-01T00:00:00Z"}}, ready=True)
    ],
}


def event(about: Mapping[str, Any], kind: str, reason: str, message: str) -> Raw:
    metadata = about["metadata"]
    return {
        "metadata": {"name": f"{metadata['name']}.{reason.lower()}"},
        "involvedObject": {
            "kind": kind,
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
        "type": "Warning",
        "reason": reason,
        "message": message,
    }


class Stage:
    """Makes objects and their statuses; pods are on a node that is there."""

    def __init__(self, create: Create, set_status: SetStatus, node: str) -> None:
        self.create = create
        self.set_status = set_status
        self._node = node

    def deployed(
        self, name: str, *statuses: Mapping[str, Any], replicas: int | None = None, **pods: Any
    ) -> tuple[Any, Any]:
        """Make a Deployment, its ReplicaSet and pods with these statuses."""
        wanted = len(statuses) if replicas is None else replicas
        made = self.create(f"{APPS}/deployments", deployment(name, wanted, **pods))
        set_made = self.create(f"{APPS}/replicasets", replica_set(made, wanted))
        for number, status in enumerate(statuses):
            made_pod = self.create("pods", pod(set_made, number, nodeName=self._node))
            self.set_status("pods", made_pod, status)
        for plural, item in (("deployments", made), ("replicasets", set_made)):
            generation = {"observedGeneration": 1, "replicas": len(statuses)}
            self.set_status(f"{APPS}/{plural}", item, generation)
        return made, set_made


def messages(document: Mapping[str, Any]) -> list[str]:
    return [each["message"] for each in document["reasons"]]


def check_a_deployment_is_walked_down_to_refusals_and_pods(
    commands: Commands, stage: Stage
) -> None:
    """What the API server said to the controller, and what the kubelet says, in one answer."""
    _, made = stage.deployed(
        "web",
        waiting("ImagePullBackOff", 'Back-off pulling image "example.com/web:1": not found'),
        replicas=2,
    )
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": 'pods "web-1-x" is forbidden: error looking up service account '
        'shop/nosuch: serviceaccount "nosuch" not found',
    }
    status = {"observedGeneration": 1, "replicas": 1, "conditions": [failure]}
    stage.set_status(f"{APPS}/replicasets", made, status)

    code, document = commands.on_server("why", "deploy/web")

    assert code == 1
    assert sorted(messages(document)) == [
        "ServiceAccount shop/nosuch does not exist: no pod is created",
        "image example.com/web:1 is not pulled: the registry has no such image",
    ]
    assert document["objects"][0]["summary"] == "0 of 2 pods are ready"


def check_equal_reasons_of_a_namespace_are_one(commands: Commands, stage: Stage) -> None:
    """A key that two Deployments lack is one reason; what runs is counted."""
    stage.create("secrets", {"metadata": {"name": "db"}, "stringData": {"user": CANARY}})
    words = waiting("CreateContainerConfigError", "couldn't find key password in Secret x/db")
    stage.deployed("web", words, words, env=[READING])
    stage.deployed("api", words, env=[READING])
    stage.deployed("fine", RUNNING)

    code, document = commands.on_server("why")

    (reason,) = document["reasons"]
    assert (code, reason["type"], reason["configuration"]) == (1, "MissingKey", True)
    assert sorted((each["name"], len(each["pods"])) for each in reason["affected"]) == [
        ("api", 1),
        ("web", 2),
    ]
    totals = document["totals"]
    assert (totals["pods"], totals["podsFine"], totals["workloadsWrong"]) == (4, 1, 2)
    assert document["notLookedAt"] == []


def check_labels_and_types_choose(commands: Commands, stage: Stage) -> None:
    """``-l``, a type, several names: as kubectl takes them."""
    crashed = waiting("CreateContainerError", "no")
    stage.deployed("web", crashed)
    stage.deployed("api", RUNNING)

    answers = {
        arguments: commands.on_server("why", *arguments)[0]
        for arguments in (
            *(("-l", "app=web"), ("-l", "app=api"), ("deploy",), ("sts",)),
            *(("deploy", "api"), ("deploy", "api", "web"), ("rs/api-1",), ("api-1-0",)),
        )
    }

    assert answers == {
        ("-l", "app=web"): 1,
        ("-l", "app=api"): 0,
        ("deploy",): 1,
        ("sts",): 0,
        ("deploy", "api"): 0,
        ("deploy", "api", "web"): 1,
        ("rs/api-1",): 0,
        ("api-1-0",): 0,
    }


def check_what_is_missing_is_found_by_asking(commands: Commands, stage: Stage) -> None:
    """What the template names and new pods cannot do without, before any event says so."""
    stage.create(f"{APPS}/deployments", deployment("web", serviceAccountName="builder"))

    code, document = commands.on_server("why", "deploy/web")

    assert code == 1
    assert document["reasons"][0]["message"].endswith("/builder does not exist: no pod is created")


def check_a_claim_that_does_not_exist(commands: Commands, stage: Stage) -> None:
    """A pod that the scheduler leaves, because its claim is not there."""
    words = '0/1 nodes are available: persistentvolumeclaim "data" not found.'
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    made = stage.create("pods", {"metadata": {"name": "db"}, "spec": _pod_spec(volumes=volumes)})
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": words,
    }
    stage.set_status("pods", made, {"phase": "Pending", "conditions": [condition]})

    code, document = commands.on_server("why", "pod/db")

    (reason,) = document["reasons"]
    assert (code, reason["type"]) == (1, "AbsentObject")
    assert reason["message"].startswith("PersistentVolumeClaim ")
    assert [each["reason"] for each in reason["explains"]] == ["Unschedulable"]


def check_warnings_about_a_workload_are_matched(commands: Commands, stage: Stage) -> None:
    """An event of the ReplicaSet says why pods are lacking."""
    _, made = stage.deployed("web", replicas=1)
    words = (
        'Error creating: pods "web-1-x" is forbidden: exceeded quota: compute, requested: pods=1, '
        "used: pods=2, limited: pods=2"
    )
    stage.create("events", event(made, "ReplicaSet", "FailedCreate", words))

    code, document = commands.on_server("why", "deploy/web")

    (reason,) = document["reasons"]
    assert (code, reason["type"]) == (1, "QuotaExceeded")
    assert reason["explains"][0]["message"] == words


def check_scaled_to_zero_is_not_wrong(commands: Commands, stage: Stage) -> None:
    """Nothing is wrong with what wants no pods."""
    stage.deployed("idle", replicas=0)

    code, document = commands.on_server("why", "deploy/idle")

    assert (code, document["objects"][0]["summary"]) == (0, "scaled to 0")
