"""``why``, ``used-by``, ``lint`` and ``rbac`` against a real API server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.workloads import Deployment
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.resources import PODS
from reflet.cli.main import run
from reflet.cluster import Cluster, settings_from
from reflet.errors import Forbidden
from reflet.transport.config.kubeconfig import Overrides
from tests import insight_scenes
from tests.insight_scenes import (
    CANARY,
    DATABASE,
    DEPLOYMENT,
    SPECIAL_CONFIG,
    TEMPLATE,
    Commands,
    Create,
)
from tests.patience import within
from tests.real.kube_server import KubeServer

PATIENCE = 20.0  # seconds until the server knows a new role
READER = "reader@example.com"


@pytest.fixture
def config(kube: KubeServer, namespace: str, tmp_path: Path) -> Path:
    return kube.write_kubeconfig(tmp_path / "config", namespace=namespace)


@pytest.fixture
def commands(
    config: Path, namespace: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Commands:
    return Commands(config, namespace, capsys, tmp_path)


@pytest.fixture
def create(kube: KubeServer, namespace: str) -> Create:
    def create(collection: str, document: Mapping[str, Any]) -> Any:
        root, _, plural = collection.rpartition("/")
        where = document["metadata"].get("namespace", namespace)
        with kube.connect() as connection:
            return connection.create(f"{root or '/api/v1'}/namespaces/{where}/{plural}", document)

    return create


def test_the_missing_key_of_the_seeds_example(commands: Commands, create: Create) -> None:
    insight_scenes.check_the_missing_key_of_the_seeds_example(commands, create)


def test_users_of_a_secret(commands: Commands, create: Create) -> None:
    insight_scenes.check_users_of_a_secret(commands, create)


def test_users_by_label(commands: Commands, create: Create) -> None:
    insight_scenes.check_users_by_label(commands, create)


def test_an_immutable_object_that_changed(commands: Commands, create: Create) -> None:
    insight_scenes.check_an_immutable_object_that_changed(commands, create)


def test_who_may_list_nothing_is_told_so(
    kube: KubeServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = kube.write_kubeconfig(tmp_path / "restricted", "restricted", namespace="allowed")

    code = run(["reflet", "used-by", "cm/a", "--kubeconfig", str(config)])

    output = capsys.readouterr()
    assert (code, output.out) == (4, "")
    assert "is forbidden" in output.err


def test_lists_that_are_forbidden_are_noted_and_the_rest_goes_on(
    config: Path, namespace: str, create: Create, capsys: pytest.CaptureFixture[str]
) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]}
    create(f"{rbac}/roles", {"metadata": {"name": "half"}, "rules": [rule]})
    create(
        f"{rbac}/rolebindings",
        {
            "metadata": {"name": "half"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "half"},
            "subjects": [{"kind": "User", "name": f"half-{namespace}"}],
        },
    )
    create("/apis/apps/v1/deployments", DEPLOYMENT)

    asyncio.run(until_deployments_can_be_listed(config, f"half-{namespace}"))
    command = ("used-by", "secret/database", "-o", "json", "--as", f"half-{namespace}")
    code = run(["reflet", *command, "--kubeconfig", str(config)])

    document = json.loads(capsys.readouterr().out)
    assert (code, [user["name"] for user in document["users"]]) == (0, ["web"])
    # Seven kinds of workloads and pods, four of the table, and whether the Secret exists.
    assert len(document["notes"]) == 12
    assert "pods could not be listed" in document["notes"][0]
    assert document["exists"] is None


async def until_deployments_can_be_listed(config: Path, user: str) -> None:
    async with reading_as(config, user) as cluster, within(PATIENCE):
        while not await allowed(cluster.resource(Deployment).list()):  # noqa: ASYNC110 - as below
            await asyncio.sleep(0.05)


# Rights


@pytest.fixture
def granted(
    config: Path, namespace: str, create: Create, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pod, its objects and others, and the role that ``reflet rbac`` prints for it."""
    for name in ("settings", "other"):
        create("configmaps", {**SPECIAL_CONFIG, "metadata": {"name": name}})
    for name in ("database", "other"):
        create("secrets", {**DATABASE, "metadata": {"name": name}})
    spec = json.loads(json.dumps(TEMPLATE["spec"]))
    spec["containers"][0]["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    spec["enableServiceLinks"] = True
    create("pods", {"metadata": {"name": "web"}, "spec": spec})

    # Roles of other tests stay behind in the namespace default.
    rights = ("--subject", f"user:{READER}", "--name", f"reader-of-{namespace}")
    code = run(["reflet", "rbac", "web", "--kubeconfig", str(config), "-o", "json", *rights])
    assert code == 0
    for document in json.loads(capsys.readouterr().out)["items"]:
        plural = f"{document['kind'].lower()}s"
        create(f"/apis/rbac.authorization.k8s.io/v1/{plural}", document)


def reading_as(config: Path, user: str) -> Cluster:
    return Cluster(settings_from(Overrides(kubeconfig=str(config), as_user=user)))


async def allowed(work: Awaitable[object]) -> bool:
    try:
        await work
    except Forbidden:
        return False
    return True


async def known(cluster: Cluster) -> None:
    """Wait until the server has taken the role in."""
    async with within(PATIENCE):
        while not await allowed(cluster.resource(Pod).get("web")):  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.05)


@pytest.mark.usefixtures("granted")
async def test_the_printed_role_allows_exactly_what_the_pod_needs(config: Path) -> None:
    async with reading_as(config, READER) as cluster:
        await known(cluster)
        config_maps, secrets = cluster.resource(ConfigMap), cluster.resource(Secret)
        one = ListOptions(field_selector="metadata.name=database")

        assert await allowed(config_maps.get("settings"))
        assert await allowed(secrets.get("database"))
        assert await allowed(secrets.list(one))
        assert await allowed(cluster.resource(Service).list())

        assert not await allowed(config_maps.get("other"))
        assert not await allowed(secrets.get("other"))
        assert not await allowed(secrets.list())
        assert not await allowed(secrets.list(ListOptions(field_selector="metadata.name=other")))
        assert not await allowed(cluster.resource(Pod).list())
        assert not await allowed(cluster.resource(Pod).delete("web"))
        assert not await allowed(secrets.delete("database"))


@pytest.mark.usefixtures("granted")
async def test_the_printed_role_allows_to_watch_one_object(config: Path) -> None:
    async with reading_as(config, READER) as cluster:
        await known(cluster)
        options = WatchOptions(field_selector="metadata.name=database", timeout_seconds=1)
        async with cluster.resource(Secret).watch(options) as events:
            first = await anext(aiter(events))

    assert first.object.metadata.name == "database"


@pytest.mark.usefixtures("granted")
async def test_the_printed_role_lets_run_follow_the_pod(config: Path, namespace: str) -> None:
    async with reading_as(config, READER) as cluster:
        await known(cluster)
        followed = cluster.mirror(
            PODS, namespace=namespace, field_selector="metadata.name=web"
        )  # as reflet run asks for it
        async with followed, within(PATIENCE):
            await followed.synced(fail_on=(Forbidden,))

        assert list(followed.keys()) == ["web"]


@pytest.mark.usefixtures("granted")
def test_the_printed_role_is_enough_for_reflet_itself(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def wait() -> None:
        async with reading_as(config, READER) as cluster:
            await known(cluster)

    asyncio.run(wait())
    code = run(["reflet", "env", "web", "--kubeconfig", str(config), "--as", READER, "-o", "json"])

    output = capsys.readouterr()
    document = json.loads(output.out)
    assert (code, document["error"], document["problems"]) == (0, None, [])
    assert {"PASSWORD", "SPECIAL_LEVEL", "KUBERNETES_SERVICE_HOST"} <= {
        variable["name"] for variable in document["variables"]
    }
    assert CANARY not in output.out
