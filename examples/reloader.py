"""A Reloader: rolls workloads when the configuration that their pods use changes.

``python examples/reloader.py`` shows it with no cluster.  Deployments, StatefulSets and DaemonSets
with the label ``reflet.dev/reload=true`` are looked after.  What counts is what containers get:
the resolved variables and files that come from ConfigMaps and Secrets, so that a key that nobody
uses rolls nobody.

Nothing is remembered here.  Digests of the values that were last seen are in an annotation of the
workload, and an annotation of its pod template changes when pods are to be replaced.  So a change
that happened while nobody looked is found, and a Reloader that starts, or sees a workload for the
first time, rolls nothing.  Both annotations are applied by a field manager of their own: who
applies the rest, a GitOps tool for example, neither sees a difference nor takes them away.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import reflet
from reflet import (
    ALL_NAMESPACES,
    Cluster,
    ConfigMap,
    DaemonSet,
    Deployment,
    Mirror,
    Pod,
    Secret,
    StatefulSet,
)
from reflet.controllers import Trigger, applied_object, indexed, leader, reconcile, wait_for
from reflet.devserver import DevServer
from reflet.errors import AlreadyExists, NotFound, RefletError
from reflet.play import Play
from reflet.resolution import (
    UNKNOWN_NODE,
    Assignment,
    Environment,
    ObjectSource,
    PodInputs,
    Usage,
    config_map_names,
    pod_of,
    references_of,
    secret_names,
)
from reflet.resolution.origins import ConfigMapOrigin, SecretOrigin, ValueOrigin

Workload: TypeAlias = Deployment | StatefulSet | DaemonSet
KINDS: tuple[type[Workload], ...] = (Deployment, StatefulSet, DaemonSet)
NAME = "reloader"
LABEL = "reflet.dev/reload=true"
SEEN = "reflet.dev/configuration-seen"  # of the workload: digests of what its pods use
ROLLED = "reflet.dev/configuration"  # of the pod template: what its pods were replaced for
USES = (Usage.ENV, Usage.ENV_FROM, Usage.VOLUME)


def inputs_of(workload: Workload, objects: ObjectSource) -> PodInputs:
    """What the pods are made from; nodes and tokens, which nobody changes here, are left open."""
    return PodInputs(
        pod=pod_of(workload),
        objects=objects,
        services=(),
        node=UNKNOWN_NODE,
        token=lambda _audience, _seconds: "",
        bundles=(),
    )


def keys(names: Callable[[Pod], Iterable[str]]) -> Callable[[Workload], list[str]]:
    """An index function: the keys of the objects that a workload's pods name."""
    return lambda workload: [
        f"{workload.metadata.namespace}/{name}" for name in names(pod_of(workload))
    ]


def assignments(environment: Environment) -> Iterator[Assignment]:
    """The values that count, and those that are shadowed but named by others: ``$(NAME)``."""
    variables = environment.variables.values()
    origins = [each.origin for each in variables if isinstance(each.origin, ValueOrigin)]
    named = {each.name for origin in origins for each in origin.substitutions}
    for variable in variables:
        yield variable.assignment
        if variable.name in named:
            yield from variable.shadows


def used_values(inputs: PodInputs) -> dict[str, set[tuple[str, bytes]]] | None:
    """What the pod's containers get of each key, or of each object that is used whole.

    None for a pod that cannot start: whatever it misses, it gets when it does.
    """
    environments, volumes = inputs.environments().values(), inputs.volumes().values()
    if any([each.error for each in environments] + [each.error for each in volumes]):
        return None
    used: dict[str, set[tuple[str, bytes]]] = {
        f"{reference.kind}/{reference.name}/{key}": set()
        for reference in references_of(inputs.pod)
        if reference.usage in USES
        for key in reference.keys or ("*",)
    }
    values: list[tuple[object, bytes]] = [
        (assignment.origin, assignment.value.encode(errors="surrogateescape"))
        for environment in environments
        for assignment in assignments(environment)
    ]
    values += [(file.origin, file.data) for each in volumes for file in each.files.values()]
    for origin, value in values:
        if isinstance(origin, ConfigMapOrigin | SecretOrigin):
            kind = "ConfigMap" if isinstance(origin, ConfigMapOrigin) else "Secret"
            part = "*" if origin.whole else origin.key
            used[f"{kind}/{origin.name}/{part}"].add((origin.key, value))
    return used


def has_changed(seen: Mapping[str, str], digests: Mapping[str, str]) -> bool:
    """Whether pods have to be replaced: for a value that changed, not for one newly asked for.

    A template that asks for something else has its pods replaced anyway.
    """
    return any(seen.get(name, digest) != digest for name, digest in digests.items())


@dataclass(frozen=True)
class Reloader:
    """Looks after the workloads of one kind."""

    cluster: Cluster
    workloads: Mirror[Any]
    config_maps: Mirror[ConfigMap]
    secrets: Mirror[Secret]
    key: bytes

    def config_map(self, namespace: str, name: str) -> ConfigMap | RefletError:
        return self.config_maps.get(name, namespace) or NotFound(f'configmap "{name}" not found')

    def secret(self, namespace: str, name: str) -> Secret | RefletError:
        return self.secrets.get(name, namespace) or NotFound(f'secret "{name}" not found')

    def digest(self, values: Iterable[tuple[str, bytes]]) -> str:
        """With a key: who may read workloads must not be able to guess Secrets."""
        text = json.dumps([(name, value.hex()) for name, value in sorted(values)])
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()[:16]

    async def look_at(self, key: str) -> None:
        workload = self.workloads.get(key)
        if workload is None:
            return
        used = used_values(inputs_of(workload, self))
        if used is None:
            return
        digests = {name: self.digest(values) for name, values in used.items()}
        digests["key"] = self.digest([])  # other digests say nothing once it is another
        seen = json.loads(workload.metadata.annotations.get(SEEN, "{}"))
        if seen == digests:
            return
        template = workload.spec.template.metadata.annotations.get(ROLLED)
        is_rolled = seen.get("key") == digests["key"] and has_changed(seen, digests)
        if is_rolled:
            template = hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:16]
        name, annotations = workload.metadata.name, {SEEN: json.dumps(digests)}
        applied = applied_object(type(workload), name, annotations=annotations)
        if template is not None:
            applied["spec"] = {"template": {"metadata": {"annotations": {ROLLED: template}}}}
        client = self.cluster.resource(type(workload), namespace=workload.metadata.namespace)
        await client.apply(applied, field_manager=NAME, force=True)
        if is_rolled:
            print(f"{workload.kind} {key} is rolled", flush=True)


async def own_key(cluster: Cluster) -> bytes:
    """The key of the digests, in a Secret of the Reloader's own; whoever comes first makes it."""
    client = cluster.resource(Secret)
    made = {"metadata": {"name": NAME}, "stringData": {"key": secrets.token_hex(32)}}
    try:
        return (await client.create(made)).data["key"]
    except AlreadyExists:
        return (await client.get(NAME)).data["key"]


async def reload(cluster: Cluster, reloader: Callable[..., Reloader] = Reloader) -> None:
    """Look after all workloads, as the only one who does, until cancelled."""
    async with (
        leader(cluster, NAME) as elected,
        cluster.mirror(ConfigMap, namespace=ALL_NAMESPACES) as config_maps,
        cluster.mirror(Secret, namespace=ALL_NAMESPACES) as all_secrets,
        AsyncExitStack() as mirrors,
        asyncio.TaskGroup() as tasks,
    ):
        key = await own_key(cluster)
        for kind in KINDS:
            workloads: Mirror[Any] = await mirrors.enter_async_context(
                cluster.mirror(
                    kind,
                    namespace=ALL_NAMESPACES,
                    label_selector=LABEL,
                    indexers={"config maps": keys(config_map_names), "secrets": keys(secret_names)},
                )
            )
            watches: list[Trigger[Any]] = [
                indexed(config_maps, workloads, "config maps"),
                indexed(all_secrets, workloads, "secrets"),
            ]
            look_at = reloader(cluster, workloads, config_maps, all_secrets, key).look_at
            tasks.create_task(reconcile(workloads, look_at, watches=watches, elected=elected))


# The demonstration

SETTINGS = {"metadata": {"name": "settings"}, "data": {"color": "blue", "unused": "1"}}
COLOR = {"configMapKeyRef": {"name": "settings", "key": "color"}}


def deployment(name: str, *env: Mapping[str, Any], **pod: Any) -> dict[str, Any]:
    container = {"name": "web", "image": "nginx", "env": list(env)}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **pod}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": dict([LABEL.split("=")])},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }


@asynccontextmanager
async def running(
    cluster: Cluster, reloader: Callable[..., Reloader] = Reloader
) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        reloading = tasks.create_task(reload(cluster, reloader), name="reloader")
        yield
        reloading.cancel()


def is_seen(workload: Any) -> bool:
    return workload is not None and SEEN in workload.metadata.annotations


def is_at(revision: int) -> Callable[[Any], bool]:
    """Whether the pods run that were made from so many templates, one after the other."""
    return lambda workload: (
        workload.metadata.annotations.get("deployment.kubernetes.io/revision") == str(revision)
        and workload.metadata.generation == workload.status.observed_generation
        and workload.status.updated_replicas == workload.status.ready_replicas == 1
    )


async def demonstrate(cluster: Cluster) -> None:
    deployments, config_maps = cluster.resource(Deployment), cluster.resource(ConfigMap)
    async with running(cluster):
        await wait_for(deployments, "web", is_seen, timeout=30)
        await wait_for(deployments, "web", is_at(1), timeout=30)
        print("web is looked after, and was not rolled for that")
        await config_maps.patch("settings", {"data": {"unused": "2"}})
        await config_maps.patch("settings", {"data": {"color": "red"}})
        await wait_for(deployments, "web", is_at(2), timeout=30)
    await config_maps.patch("settings", {"data": {"color": "green"}})
    print("nobody looked when the color became green")
    async with running(cluster):
        await wait_for(deployments, "web", is_at(3), timeout=30)
    print("two changes of what web uses, two rollouts")


async def main() -> None:
    load = [
        {"apiVersion": "v1", "kind": "ConfigMap", **SETTINGS},
        deployment("web", {"name": "COLOR", "valueFrom": COLOR}),
    ]
    async with (
        DevServer(load=load, play=Play("pods", "deployments")) as server,
        reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster,
    ):
        await demonstrate(cluster)


if __name__ == "__main__":
    asyncio.run(main())
