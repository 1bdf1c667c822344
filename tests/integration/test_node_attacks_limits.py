"""A hostile author of pods who wants too much, and bad luck, on agents as people run them."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.node.shim.container_records import records_below
from reflet.processes.process_table import process_entries
from tests.integration.attack_scenes import (
    CANARY,
    EVERY,
    ROOT,
    ROOT_PLAIN,
    USER_PLAIN,
    House,
    everything_told,
    opened_house,
    script,
    tried_in,
)
from tests.node_chaos import shims_of
from tests.node_scenes import (
    config_map,
    end_of,
    is_running,
    pod_document,
    until,
    waiting_of,
    waits_for,
)
from tests.other_users import needs_root


@pytest.fixture(scope="module")
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    with opened_house(request.param, tmp_path_factory) as made:
        yield made


# What is too much


def doubling(count: int) -> list[dict[str, str]]:
    """Variables that a few hundred bytes make into gigabytes."""
    first = [{"name": "A0", "value": "x" * 64}]
    chain = [{"name": f"A{n}", "value": f"$(A{n - 1})" * 2} for n in range(1, 18)]
    return [*first, *chain, *({"name": f"B{n}", "value": "$(A17)"} for n in range(count))]


@needs_root
@tried_in(ROOT, USER_PLAIN)
@pytest.mark.parametrize("where", ["env", "args"])
async def test_a_few_lines_do_not_become_gigabytes(house: House, where: str) -> None:
    container = script("true", env=doubling(300 if where == "env" else 0))
    if where == "args":
        container["args"] = ["$(A17)"] * 300
    async with house.scene() as scene:
        await scene.pods.create(pod_document("wide", container=container, restartPolicy="Never"))
        pod = await scene.pod("wide", waits_for("CreateContainerConfigError"))

    assert "8" in waiting_of(pod).message
    assert _peak(house.agent.pid) < 400 * 2**20
    assert _peak(shims_of(house.root / "node")[0]) < 200 * 2**20


def _peak(pid: int) -> int:
    """The most memory that a process ever had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


@needs_root
@tried_in(*EVERY)
async def test_a_secret_in_a_sub_path_is_not_told(house: House) -> None:
    values = {"long": f"{CANARY}{'z' * 300}", "link": f"{CANARY}-link", "file": f"{CANARY}/file"}
    prepare = f"ln -s /etc {CANARY}-link; echo > {CANARY}"
    async with house.scene() as scene:
        await scene.secrets.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "paths"},
                "stringData": values,
            }
        )
        mount = {"name": "e", "mountPath": "/e"}
        for name in values:
            reference = {"secretKeyRef": {"name": "paths", "key": name}}
            container = script(
                "true",
                env=[{"name": "S", "valueFrom": reference}],
                volumeMounts=[mount | {"subPathExpr": "$(S)"}],
            )
            first = script(f"cd $REFLET_ROOT/e; {prepare}", volumeMounts=[mount])
            document = pod_document(
                name,
                container=container,
                initContainers=[first | {"name": "first"}],
                volumes=[{"name": "e", "emptyDir": {}}],
            )
            await scene.pods.create(document)
        for name in values:
            await scene.pod(name, waits_for("CreateContainerConfigError"))
            assert CANARY not in await everything_told(scene, house, name)


@needs_root
@tried_in(ROOT, ROOT_PLAIN)
async def test_a_lock_on_a_volume_stops_nobody(house: House) -> None:
    async with house.scene() as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "locks",
                ["sh", "-c", "exec flock -x $REFLET_ROOT/etc/app sh -c 'echo locked; sleep 600'"],
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("locks", is_running)
        await until(lambda: "locked" in scene.log(pod))
        file = scene.container_root(pod) / "etc/app/conf"
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: file.read_text() == "2")
        await scene.config_maps.delete("settings")


# Bad luck


@needs_root
@tried_in(ROOT, ROOT_PLAIN)
async def test_a_container_that_dies_while_the_shim_lacks_descriptors_is_told_dead(
    house: House,
) -> None:
    (shim,) = shims_of(house.root / "node")
    async with house.scene() as scene:
        await scene.pods.create(pod_document("web", ["sleep", "86400"], restartPolicy="Never"))
        pod = await scene.pod("web", is_running)
        pid = next(
            each.pid
            for each in records_below(house.root / "node" / "pods")
            if each.uid == pod.metadata.uid and each.pid is not None
        )
        limits = resource.prlimit(shim, resource.RLIMIT_NOFILE)
        used = len(list(Path(f"/proc/{shim}/fd").iterdir()))
        resource.prlimit(shim, resource.RLIMIT_NOFILE, (used, limits[1]))
        try:
            os.kill(pid, signal.SIGKILL)
            dead = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        finally:
            resource.prlimit(shim, resource.RLIMIT_NOFILE, limits)
        await scene.pods.delete("web")
        await scene.gone("web")
        await until(lambda: not _zombies_of(shim))

    assert end_of(dead).exit_code == 137


def _zombies_of(pid: int) -> list[int]:
    return [each.pid for each in process_entries() if each.parent == pid and each.has_ended]
