"""Who uses an object, and what a change takes."""

from __future__ import annotations

import json
from typing import Any

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.api.core.workloads import CronJob, Deployment, Job, ReplicaSet
from reflet.api.unstructured import AnyObject
from reflet.insight.custom_workloads import workload_in
from reflet.insight.possible_users import Candidates
from reflet.insight.reference_table import Effect
from reflet.insight.used_by import UsedBy, used_by, used_by_each
from reflet.resolution.objects import ConfigKind
from reflet.resolution.templates.templates import BUILT_IN_WORKLOADS

ENV_FROM = {"name": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}
TEMPLATE = {"spec": {"containers": [ENV_FROM]}}
CONFIG_MAP_VOLUME = {"name": "conf", "configMap": {"name": "settings"}}


def made(kind: type[Any], name: str, spec: dict[str, Any], *, owner: str = "", **more: Any) -> Any:
    metadata: dict[str, Any] = {"name": name, "namespace": more.pop("namespace", "shop")}
    if owner:
        owner_kind, _, owner_name = owner.partition("/")
        metadata["ownerReferences"] = [{"kind": owner_kind, "name": owner_name, "controller": True}]
    raw = {"metadata": metadata, "spec": spec, **more}
    return codec.decode(json.dumps(raw).encode(), kind)


def thing(api_version: str, kind: str, name: str, **more: Any) -> AnyObject:
    metadata = {"name": name, "namespace": more.pop("namespace", "shop")}
    return AnyObject.from_dict(
        {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}
    )


def pod(name: str, *containers: dict[str, Any], owner: str = "", **spec: Any) -> Pod:
    status = spec.pop("status", {})
    namespace = spec.pop("namespace", "shop")
    body = {"containers": list(containers) or [ENV_FROM], **spec}
    result: Pod = made(Pod, name, body, owner=owner, status=status, namespace=namespace)
    return result


def users_of(candidates: Candidates, kind: ConfigKind = "ConfigMap", **more: Any) -> UsedBy:
    return used_by(kind, "shop", "settings", candidates, **more)


def mounted(**mount: Any) -> UsedBy:
    container = {"name": "web", "volumeMounts": [{"name": "conf", "mountPath": "/c", **mount}]}
    return users_of(Candidates(pods=(pod("a", container, volumes=[CONFIG_MAP_VOLUME]),)))


def test_variables_need_a_restart() -> None:
    (user,) = users_of(Candidates(pods=(pod("a"),))).users

    (use,) = user.uses
    assert (user.kind, user.name) == ("Pod", "a")
    assert (use.usage, use.effect, use.keys) == ("envFrom", Effect.RESTART, None)


def test_a_volume_is_live() -> None:
    (use,) = mounted().users[0].uses

    assert (use.effect, use.place.container, use.mount_path) == (Effect.LIVE, "web", "/c")


def test_a_sub_path_needs_a_restart_and_shows_one_key() -> None:
    (use,) = mounted(subPath="app.conf").users[0].uses

    assert (use.effect, use.keys) == (Effect.RESTART, ("app.conf",))


def test_a_sub_path_with_variables_may_show_any_key() -> None:
    (use,) = mounted(subPathExpr="$(NAME)").users[0].uses

    assert (use.effect, use.keys) == (Effect.RESTART, None)


def test_a_sub_path_shows_the_keys_below_it() -> None:
    items = [{"key": "a", "path": "dir/a"}, {"key": "b", "path": "b"}]
    volume = {"name": "conf", "configMap": {"name": "settings", "items": items}}
    mount = {"name": "conf", "mountPath": "/c", "subPath": "dir"}
    candidate = pod("a", {"name": "web", "volumeMounts": [mount]}, volumes=[volume])

    (use,) = users_of(Candidates(pods=(candidate,))).users[0].uses

    assert use.keys == ("a",)


def test_a_sub_path_of_another_source_is_no_use() -> None:
    sources = [
        {"configMap": {"name": "settings", "items": [{"key": "a", "path": "a"}]}},
        {"configMap": {"name": "other", "items": [{"key": "b", "path": "b"}]}},
    ]
    mount = {"name": "conf", "mountPath": "/c", "subPath": "b"}
    candidate = pod(
        "a",
        {"name": "web", "volumeMounts": [mount]},
        volumes=[{"name": "conf", "projected": {"sources": sources}}],
    )

    assert users_of(Candidates(pods=(candidate,))).users == ()


def test_a_volume_that_nobody_mounts_is_told() -> None:
    candidate = pod("a", {"name": "web"}, volumes=[CONFIG_MAP_VOLUME])

    (use,) = users_of(Candidates(pods=(candidate,))).users[0].uses

    assert use.effect is Effect.UNMOUNTED


def test_all_kinds_of_workloads_are_searched() -> None:
    specs = {
        kind: {"template": TEMPLATE}
        if kind is not CronJob
        else {"jobTemplate": {"spec": {"template": TEMPLATE}}}
        for kind in BUILT_IN_WORKLOADS
    }
    workloads = tuple(made(kind, "w", spec) for kind, spec in specs.items())

    found = users_of(Candidates(workloads=workloads))

    assert [user.kind for user in found.users] == [
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    ]
    assert (found.workloads, found.pods, found.workloads_to_restart) == (7, 0, 7)


def test_pods_are_told_under_the_workload_that_made_them() -> None:
    candidates = Candidates(
        pods=(pod("web-1-a", owner="ReplicaSet/web-1"), pod("web-1-b", owner="ReplicaSet/web-1")),
        workloads=(
            made(Deployment, "web", {"template": TEMPLATE}),
            made(ReplicaSet, "web-1", {"template": TEMPLATE}, owner="Deployment/web"),
            made(ReplicaSet, "web-0", {"template": TEMPLATE}, owner="Deployment/web"),
        ),
    )

    found = users_of(candidates)

    (user,) = found.users
    assert (user.kind, user.name, user.pods) == ("Deployment", "web", ("web-1-a", "web-1-b"))
    assert (found.workloads, found.pods, found.pods_to_restart) == (1, 2, 2)


def test_jobs_are_told_under_their_cron_job() -> None:
    candidates = Candidates(
        pods=(pod("tidy-1-x", owner="Job/tidy-1"),),
        workloads=(
            made(CronJob, "tidy", {"jobTemplate": {"spec": {"template": TEMPLATE}}}),
            made(Job, "tidy-1", {"template": TEMPLATE}, owner="CronJob/tidy"),
        ),
    )

    (user,) = users_of(candidates).users

    assert (user.kind, user.name, user.pods) == ("CronJob", "tidy", ("tidy-1-x",))


def test_pods_of_an_owner_that_is_not_known_are_told_under_its_name() -> None:
    (user,) = users_of(Candidates(pods=(pod("x-1", owner="Rollout/x"),))).users

    assert (user.kind, user.name, user.pods) == ("Rollout", "x", ("x-1",))
    assert not user.outdated


def test_pods_of_an_older_template_are_marked() -> None:
    candidates = Candidates(
        pods=(pod("web-0-a", owner="ReplicaSet/web-0"),),
        workloads=(
            made(Deployment, "web", {"template": {"spec": {"containers": [{"name": "web"}]}}}),
            made(ReplicaSet, "web-0", {"template": TEMPLATE}, owner="Deployment/web"),
        ),
    )

    (user,) = users_of(candidates).users

    assert (user.name, user.outdated, user.needs_restart) == ("web", True, True)


def test_pods_that_ended_use_nothing() -> None:
    candidates = Candidates(pods=(pod("a", status={"phase": "Succeeded"}),))

    assert users_of(candidates).users == ()


def test_other_namespaces_do_not_count() -> None:
    assert users_of(Candidates(pods=(pod("a", namespace="other"),))).users == ()


def test_only_users_of_one_key_can_be_asked_for() -> None:
    def reading(key: str) -> dict[str, Any]:
        source = {"configMapKeyRef": {"name": "settings", "key": key}}
        return {"name": "web", "env": [{"name": "A", "valueFrom": source}]}

    candidates = Candidates(pods=(pod("a", reading("x")), pod("b", reading("y")), pod("c")))

    assert [user.name for user in users_of(candidates, key="x").users] == ["a", "c"]


def test_secrets_are_used_by_service_accounts_and_ingresses() -> None:
    account = thing("v1", "ServiceAccount", "web", imagePullSecrets=[{"name": "settings"}])
    ingress = thing(
        "networking.k8s.io/v1",
        "Ingress",
        "front",
        spec={"tls": [{"hosts": ["a"]}, {"secretName": "settings"}]},
    )
    candidates = Candidates(objects=(account, ingress))

    found = users_of(candidates, "Secret")

    assert [(user.kind, user.uses[0].effect) for user in found.users] == [
        ("ServiceAccount", Effect.NEXT_PULL),
        ("Ingress", Effect.LIVE),
    ]
    assert (found.others, found.workloads, found.workloads_to_restart) == (2, 0, 0)
    assert users_of(candidates, "ConfigMap").users == ()


def test_an_object_of_another_namespace_may_name_it() -> None:
    gateway = thing(
        "gateway.networking.k8s.io/v1",
        "Gateway",
        "edge",
        namespace="infra",
        spec={
            "listeners": [{"tls": {"certificateRefs": [{"name": "settings", "namespace": "shop"}]}}]
        },
    )

    (user,) = users_of(Candidates(objects=(gateway,)), "Secret").users

    assert (user.kind, user.namespace, user.runs_pods) == ("Gateway", "infra", False)
    assert used_by("Secret", "infra", "settings", Candidates(objects=(gateway,))).users == ()


def test_a_custom_workload_is_a_user_once_for_its_templates_and_the_rest() -> None:
    rollout = thing(
        "argoproj.io/v1alpha1",
        "Rollout",
        "web",
        spec={
            "template": {"spec": {"containers": [{**ENV_FROM, "image": "i"}]}},
            "canary": {"configMapRef": {"name": "settings"}},
        },
    )
    workload = workload_in(rollout)
    assert workload is not None

    found = users_of(Candidates(workloads=(workload,), objects=(rollout,)))

    (user,) = found.users
    assert [(use.usage, use.effect) for use in user.uses] == [
        ("envFrom", Effect.RESTART),
        ("spec.canary.configMapRef.name", Effect.UNKNOWN),
    ]
    assert (found.workloads, found.workloads_to_restart, found.not_known) == (1, 1, 1)


def test_every_template_of_a_custom_workload_is_searched() -> None:
    replicas = {
        "Master": {"template": {"spec": {"containers": [{"name": "m", "image": "i"}]}}},
        "Worker": {"template": {"spec": {"containers": [{**ENV_FROM, "image": "i"}]}}},
    }
    job = thing("kubeflow.org/v1", "PyTorchJob", "t", spec={"pytorchReplicaSpecs": replicas})
    workload = workload_in(job)
    assert workload is not None

    (user,) = users_of(Candidates(workloads=(workload,), objects=(job,))).users

    assert [use.usage for use in user.uses] == ["envFrom"]


def test_a_key_leaves_out_objects_that_name_others() -> None:
    monitor = thing(
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        "web",
        spec={"endpoints": [{"bearerTokenSecret": {"name": "settings", "key": "token"}}]},
    )
    candidates = Candidates(objects=(monitor,))

    assert len(users_of(candidates, "Secret", key="token").users) == 1
    assert users_of(candidates, "Secret", key="other").users == ()


def test_several_namespaces_are_searched_at_once() -> None:
    candidates = Candidates(pods=(pod("a"), pod("b", namespace="other")))

    answers = used_by_each("ConfigMap", ("other", "shop", "third"), "settings", candidates)

    assert [[user.name for user in answer.users] for answer in answers] == [["b"], ["a"], []]


def test_pull_secrets_and_credentials_wait_for_their_next_use() -> None:
    candidate = pod(
        "a",
        {"name": "web"},
        imagePullSecrets=[{"name": "settings"}],
        volumes=[
            {"name": "v", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "settings"}}}
        ],
    )

    (user,) = users_of(Candidates(pods=(candidate,)), "Secret").users

    assert [use.effect for use in user.uses] == [Effect.NEXT_PULL, Effect.NEXT_MOUNT]
    assert not user.needs_restart


def test_optional_uses_are_marked() -> None:
    container = {
        "name": "web",
        "envFrom": [{"configMapRef": {"name": "settings", "optional": True}}],
    }

    (user,) = users_of(Candidates(pods=(pod("a", container),))).users

    assert user.uses[0].optional
