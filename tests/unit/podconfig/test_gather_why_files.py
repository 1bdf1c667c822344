"""Pods and workloads of files, as ``why`` looks at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.insight.lint.assumptions import Assumptions
from reflet.insight.reference_table import Tables, row_from
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import diagnose
from reflet.podconfig.gather_why_files import cluster_state_from_files
from reflet.podconfig.gather_why_targets import WhyTarget

Raw = dict[str, Any]


def deployment(name: str, image: str = "web", **pods: Any) -> Raw:
    labels = {"app": name}
    spec = {"containers": [{"name": "web", "image": image}], **pods}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def pod(name: str, **more: Any) -> Raw:
    metadata = {"name": name, **more.pop("metadata", {})}
    spec = {"containers": [{"name": "web", "image": "web"}], **more.pop("spec", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, **more}


class Files:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "objects.json"
        self.read: list[int] = []

    def state(
        self, *objects: Raw, targets: list[WhyTarget] | None = None, **more: Any
    ) -> ClusterState:
        self._path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return cluster_state_from_files(
            [str(self._path)], targets or (), on_file=self.read.append, **more
        )


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def names(state: ClusterState) -> list[str]:
    return [each.target for each in state.templates]


def test_everything_that_makes_pods_is_looked_at(files: Files) -> None:
    state = files.state(deployment("web"), deployment("api"), pod("alone"))

    assert names(state) == ["deployment/web", "deployment/api", "pod/alone"]
    assert (state.from_files, files.read) == (True, [1])


@pytest.mark.parametrize(
    ("targets", "found"),
    [
        ([WhyTarget("deploy", "web")], ["deployment/web"]),
        ([WhyTarget("deploy")], ["deployment/web", "deployment/api"]),
        ([WhyTarget("pod", "alone"), WhyTarget("deploy", "api")], ["deployment/api", "pod/alone"]),
    ],
)
def test_targets_leave_what_was_asked_about(
    files: Files, targets: list[WhyTarget], found: list[str]
) -> None:
    state = files.state(deployment("web"), deployment("api"), pod("alone"), targets=targets)

    assert names(state) == found


def test_a_target_that_the_files_do_not_have_is_an_error(files: Files) -> None:
    with pytest.raises(ConfigurationError, match="the files hold no deploy/wep"):
        files.state(deployment("web"), targets=[WhyTarget("deploy", "wep")])


def test_labels_leave_whose_pods_have_them(files: Files) -> None:
    state = files.state(deployment("web"), deployment("api"), selector="app=api")

    assert names(state) == ["deployment/api"]


def test_labels_that_nothing_has_are_an_error(files: Files) -> None:
    with pytest.raises(ConfigurationError, match="no pod or workload of the files has app=x"):
        files.state(deployment("web"), selector="app=x")


def test_files_without_pods_are_an_error(files: Files) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}

    with pytest.raises(ConfigurationError, match="no pod and nothing that makes pods"):
        files.state(config_map)


@pytest.mark.parametrize("targets", [[], [WhyTarget("deploy", "web")]])
def test_what_a_server_would_refuse_is_a_reason(files: Files, targets: list[WhyTarget]) -> None:
    state = files.state(deployment("web", image=""), targets=targets)

    (reason,) = diagnose(state).reasons
    assert "spec.template.spec.containers[0].image: Required value" in reason.reason.message


def test_refusals_go_beside_what_is_taken(files: Files) -> None:
    state = files.state(deployment("web", image=""), deployment("api"))

    assert (names(state), len(state.refusals)) == (["deployment/api"], 1)


def test_what_pods_name_and_the_files_do_not_have_is_absent(files: Files) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bulider"}}

    state = files.state(deployment("web", serviceAccountName="builder"), account)

    assert state.absent == {("ServiceAccount", "default", "builder")}
    assert state.present == {("ServiceAccount", "default", "bulider")}
    (reason,) = diagnose(state).reasons
    assert (reason.wrong, reason.fix[:20]) == (False, "did you mean bulider")


# Files that come out of a cluster


OWNER = {"kind": "ReplicaSet", "name": "web-1", "uid": "r1", "controller": True}
CRASHING = {
    "phase": "Running",
    "containerStatuses": [
        {
            "name": "web",
            "image": "web",
            "imageID": "",
            "ready": False,
            "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 1}},
        }
    ],
}


def dump() -> list[Raw]:
    web = deployment("web")
    web["metadata"]["uid"] = "d1"
    replica_set = deployment("web-1")
    replica_set["kind"] = "ReplicaSet"
    replica_set["metadata"] |= {
        "uid": "r1",
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "name": "web",
                "uid": "d1",
                "controller": True,
            }
        ],
    }
    crashing = pod(
        "web-1-x",
        metadata={"uid": "p1", "ownerReferences": [{**OWNER, "apiVersion": "apps/v1"}]},
        spec={"nodeName": "node-1"},
        status=CRASHING,
    )
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "web-1-x", "namespace": "default", "uid": "p1"},
        "type": "Warning",
        "reason": "FailedKillPod",
        "message": "error killing pod",
    }
    return [web, replica_set, crashing, event]


def test_pods_that_come_out_of_a_cluster_are_looked_at_with_their_status(files: Files) -> None:
    state = files.state(*dump())

    diagnosis = diagnose(state)

    assert names(state) == []
    assert [(each.reason.type, str(each.affected[0].root)) for each in diagnosis.reasons] == [
        ("ContainerExits", "deploy/web")
    ]
    assert [each.signal.reason for each in diagnosis.unexplained] == ["FailedKillPod"]


def test_a_workload_out_of_a_cluster_brings_its_pods(files: Files) -> None:
    state = files.state(*dump(), deployment("api"), targets=[WhyTarget("deploy", "web")])

    assert [each.name for each in state.pods] == ["web-1-x"]
    assert names(state) == []


# What others make

SECRET_OF_A_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: c, image: i, envFrom: [{secretRef: {name: db}}]}
"""
GRANTS_TO_CREATE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: operator}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [create]}
"""
MAKERS = {
    "external.yaml": """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: from-the-vault}
spec: {target: {name: db}}
""",
    "sealed.yaml": """\
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: db}
spec: {encryptedData: {password: AgA=}}
""",
    "certificate.yaml": """\
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web}
spec: {secretName: db}
""",
    "kustomization.yaml": "secretGenerator: [{name: db}]\n",
    "README.md": "kubectl create secret generic db --from-literal=a=b\n",
    "role.yaml": GRANTS_TO_CREATE
    + '- {apiGroups: [""], resources: [secrets], resourceNames: [db], verbs: [get]}\n',
    "job.yaml": GRANTS_TO_CREATE
    + """\
---
apiVersion: batch/v1
kind: Job
metadata: {name: makes-it}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, args: [--secret-name=db]}]
""",
}


def in_folder(folder: Path, /, **more: Any) -> ClusterState:
    return cluster_state_from_files([str(folder)], **more)


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def taken(state: ClusterState) -> list[str]:
    return [each for each in state.remarks if "taken to exist" in each]


@pytest.mark.parametrize("file", MAKERS)
def test_what_others_make_is_no_reason(tmp_path: Path, file: str) -> None:
    written(tmp_path, web=SECRET_OF_A_POD)
    assert diagnose(in_folder(tmp_path)).wrong
    (tmp_path / file).write_text(MAKERS[file])

    state = in_folder(tmp_path)

    assert not diagnose(state).wrong
    assert taken(state) == ["1 object taken to exist because others make it: Secret db"]


def test_what_the_project_assumes_or_says_to_be_made_is_no_reason(tmp_path: Path) -> None:
    mine = "apiVersion: example.com/v1\nkind: Mine\nmetadata: {name: db}\n"
    row = row_from({"group": "example.com", "kind": "Mine", "names": "Secret", "name": "{name}"})
    written(tmp_path, web=SECRET_OF_A_POD, mine=mine)

    assert diagnose(in_folder(tmp_path)).wrong
    assert not diagnose(in_folder(tmp_path, assume=Assumptions(["secret/db"]))).wrong
    assert not diagnose(in_folder(tmp_path, more=Tables(makers=(row,)))).wrong


def test_a_key_that_an_object_of_the_files_lacks_stays_a_reason(tmp_path: Path) -> None:
    text = SECRET_OF_A_POD.replace(
        "envFrom: [{secretRef: {name: db}}]",
        "env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]",
    )
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {user: a}\n"
    written(tmp_path, web=text, secret=secret)

    assert diagnose(in_folder(tmp_path)).wrong
    # Unless it is said to come from elsewhere.
    assert not diagnose(in_folder(tmp_path, assume=Assumptions(["secret/db:password"]))).wrong


def test_variants_of_which_none_is_nearer_are_no_reason(tmp_path: Path) -> None:
    for name in ("production", "staging"):
        (tmp_path / name).mkdir()
        text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: db}}\nstringData: {{a: {name}}}\n"
        written(tmp_path / name, secret=text)
    written(tmp_path, web=SECRET_OF_A_POD)

    assert not diagnose(in_folder(tmp_path)).wrong


@pytest.mark.parametrize(("more", "wrong"), [("", False), ("  enableServiceLinks: false\n", True)])
def test_variables_of_services_that_the_cluster_may_have_are_no_reason(
    tmp_path: Path, more: str, wrong: bool
) -> None:
    variable = "env: [{name: A, value: $(DB_SERVICE_HOST)}]"
    text = SECRET_OF_A_POD.replace("envFrom: [{secretRef: {name: db}}]", variable)
    written(tmp_path, web=f"{text}{more}")

    assert diagnose(in_folder(tmp_path)).wrong is wrong


def test_an_account_that_documents_create_is_no_remark(tmp_path: Path) -> None:
    written(tmp_path, web=f"{SECRET_OF_A_POD}  serviceAccountName: web\n")
    assert in_folder(tmp_path).absent
    (tmp_path / "README.md").write_text("kubectl create serviceaccount web\n")

    assert not in_folder(tmp_path).absent


def test_what_an_object_of_a_cluster_misses_is_missing(tmp_path: Path) -> None:
    live = SECRET_OF_A_POD.replace("name: web", "name: web, uid: u1")
    written(tmp_path, web=live, external=MAKERS["external.yaml"])

    state = in_folder(tmp_path)

    assert diagnose(state).wrong
    assert taken(state) == []
