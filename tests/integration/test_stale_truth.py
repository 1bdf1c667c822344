"""What ``stale`` says of containers, beside what their processes have: environment and files.

The containers are processes of a node agent.  Only time is played: an hour passes between two
steps, for the server that writes times into objects, and for the starts of containers.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

import reflet
from reflet.api.core.pods import ContainerState, ContainerStateRunning, Pod
from reflet.api.options import PatchOptions
from reflet.devserver.server import DevServer
from reflet.insight.stale.held_values import Arrival, Certainty, HeldState
from reflet.insight.stale.stale_workloads import RunningPods
from reflet.insight.stale.staleness import KeyUse, staleness_of
from reflet.node.shim.container_records import records_below
from reflet.podconfig.many_pods.gather_staleness import running_pods
from reflet.podconfig.many_pods.staleness_watch import StalenessWatch
from tests.node_scenes import PATIENCE, Scene, is_running, pod_document, running_agent, until
from tests.patience import within

HOUR = timedelta(hours=1)
KINDS = {"ConfigMap", "Secret"}
KEYS = ("kept", "changed", "back", "gone", "optional-gone", "part", "part-kept")
SETTINGS = dict.fromkeys(KEYS, "old")
WHOLE = {"W_KEPT": "old", "W_CHANGED": "old", "W_GONE": "old"}


class SteppedClock:
    """A wall clock that stands still until it is told to go on; the rest is the machine's."""

    def __init__(self) -> None:
        self._now = datetime.now(UTC).replace(microsecond=0) - 24 * HOUR

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, _: float, /) -> None:
        await asyncio.sleep(0)

    def step(self) -> None:
        self._now += HOUR


def from_key(name: str, key: str, *, of: str = "settings", **more: Any) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"configMapKeyRef": {"name": of, "key": key, **more}}}


def template() -> dict[str, Any]:
    secret = {"secretKeyRef": {"name": "vault", "key": "password"}}
    return {
        "container": {
            "envFrom": [{"configMapRef": {"name": "whole"}}],
            "env": [
                from_key("KEPT", "kept"),
                from_key("CHANGED", "changed"),
                from_key("BACK", "back"),
                from_key("GONE", "gone"),
                from_key("OPTIONAL_GONE", "optional-gone", optional=True),
                from_key("OPTIONAL_NEW", "optional-new", optional=True),
                from_key("REMADE", "key", of="remade"),
                from_key("REMADE_EQUAL", "key", of="remade-equal"),
                {"name": "PASSWORD", "valueFrom": secret},
                {"name": "URL", "value": "http://$(CHANGED)"},
            ],
            "volumeMounts": [
                {"name": "files", "mountPath": "/etc/files"},
                {"name": "vault", "mountPath": "/etc/vault"},
                {"name": "parts", "mountPath": "/etc/part", "subPath": "part"},
                {"name": "parts", "mountPath": "/etc/part-kept", "subPath": "part-kept"},
            ],
        },
        "volumes": [
            {"name": "files", "configMap": {"name": "files"}},
            {"name": "vault", "secret": {"secretName": "vault"}},
            {"name": "parts", "configMap": {"name": "settings"}},
        ],
    }


class Stage(NamedTuple):
    """A node agent on a server whose time is ours."""

    scene: Scene
    clock: SteppedClock
    starts: dict[tuple[str, int], datetime]

    async def config_map(self, name: str, **data: str) -> None:
        await self.scene.config_maps.create({"metadata": {"name": name}, "data": data})

    async def patch(self, name: str, **data: str | None) -> None:
        """Change keys, each as a manager of its own."""
        for key, value in data.items():
            await self.scene.config_maps.patch(
                name, {"data": {key: value}}, options=PatchOptions(field_manager=f"by-{key}")
            )

    async def run(self, name: str) -> None:
        await self.scene.pods.create(pod_document(name, **template()))
        await self._note_start(await self.scene.pod(name, is_running))

    async def run_again(self, name: str) -> None:
        """End the process of a pod, which is started again."""
        before = await self.scene.pods.get(name)
        count = before.status.container_statuses[0].restart_count
        os.kill(self.pid_of(before), signal.SIGKILL)
        pod = await self.scene.pod(
            name,
            lambda pod: (
                is_running(pod) and pod.status.container_statuses[0].restart_count == count + 1
            ),
        )
        await self._note_start(pod)

    async def _note_start(self, pod: Pod) -> None:
        (status,) = pod.status.container_statuses
        self.starts[pod.metadata.name, status.restart_count] = self.clock.now()

    def in_time(self, running: RunningPods) -> RunningPods:
        """The same with starts by our clock: containers have the machine's."""
        return running._replace(pods=tuple(map(self._in_time, running.pods)))

    def _in_time(self, pod: Pod) -> Pod:
        (status,) = pod.status.container_statuses
        at = self.starts[pod.metadata.name, status.restart_count]
        running = ContainerState(running=ContainerStateRunning(started_at=at))
        statuses = (structs.replace(status, state=running),)
        return structs.replace(pod, status=structs.replace(pod.status, container_statuses=statuses))

    # What is so

    def pid_of(self, pod: Pod) -> int:
        for record in records_below(self.scene.root / "node" / "pods"):
            if record.uid == pod.metadata.uid and record.finished_at is None:
                assert record.pid is not None
                return record.pid
        raise AssertionError("no process")

    def held(self, pod: Pod, use: KeyUse) -> str | None:
        """What the process has."""
        if use.arrival is Arrival.VARIABLE:
            every = Path(f"/proc/{self.pid_of(pod)}/environ").read_bytes().split(b"\0")
            found = dict(each.decode().split("=", 1) for each in every if b"=" in each)
            return found.get(use.name, "").removeprefix("http://") or None
        path = self.scene.container_root(pod) / use.name.lstrip("/")
        return path.read_text() if path.is_file() else None

    async def is_there(self, use: KeyUse) -> str | None:
        """What the object has."""
        client = self.scene.config_maps if use.kind == "ConfigMap" else self.scene.secrets
        found = {each.metadata.name: each for each in (await client.list()).items}.get(use.object)
        value = None if found is None else found.data.get(use.key)
        return value.decode() if isinstance(value, bytes) else value


@asynccontextmanager
async def staged(root: Path) -> AsyncIterator[Stage]:
    clock = SteppedClock()
    async with (
        DevServer(tls=False) as server,
        reflet.connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
        within(2 * PATIENCE),
    ):
        server.state.now = clock.now
        async with running_agent(cluster, root) as agent:
            await agent.ready()
            scene = Scene(cluster, root)
            scene.agent = agent
            stage = Stage(scene, clock, {})
            await stage.config_map("settings", **SETTINGS)
            await stage.config_map("whole", **WHOLE)
            await stage.config_map("files", kept="old", changed="old", gone="old")
            await stage.config_map("remade", key="old")
            await stage.config_map("remade-equal", key="old")
            vault = {"metadata": {"name": "vault"}, "stringData": {"password": "old"}}
            await scene.secrets.create(vault)
            clock.step()
            for name in ("stays", "again"):
                await stage.run(name)
            clock.step()
            yield stage


async def change_everything(stage: Stage) -> None:
    """One pod runs on, the other is started again afterwards."""
    await stage.patch("settings", back="new")
    stage.clock.step()
    await stage.patch("settings", back="old", changed="new", gone=None, part="new")
    await stage.patch("settings", **{"optional-gone": None, "optional-new": "new"})
    await stage.patch("whole", W_CHANGED="new", W_NEW="new", W_GONE=None)
    await stage.patch("files", changed="new", added="new", gone=None)
    for name, value in (("remade", "new"), ("remade-equal", "old")):
        await stage.scene.config_maps.delete(name)
        await stage.config_map(name, key=value)
    await stage.scene.secrets.patch("vault", {"stringData": {"password": "new"}})
    for pod in (await stage.scene.pods.list()).items:
        await until(partial(files_are_new, stage.scene.container_root(pod)))
    stage.clock.step()


def files_are_new(root: Path) -> bool:
    """Whether a container has all that was changed; each volume is written by itself."""
    changed = (root / "etc/files/changed", root / "etc/vault/password")
    gone = root / "etc/files/gone"
    return all(path.read_text() == "new" for path in changed) and not gone.exists()


Claims = dict[tuple[str, str], tuple[HeldState, Certainty, bool]]
"""By pod and name: what is said, and whether the process has what the object has."""


async def claims(stage: Stage, running: RunningPods) -> Claims:
    found: Claims = {}
    for pod in stage.in_time(running).pods:
        for use in staleness_of(pod, running.histories, now=stage.clock.now()):
            is_equal = stage.held(pod, use) == await stage.is_there(use)
            assert (pod.metadata.name, use.name) not in found
            found[pod.metadata.name, use.name] = use.state, use.certainty, is_equal
    return found


NEVER_WRONG = {HeldState.CURRENT: True, HeldState.MISSING: False}


async def test_what_times_say_is_so_and_what_they_leave_open_is_not_claimed(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        await change_everything(stage)

        found = await claims(stage, await running_pods(stage.scene.cluster))

    assert all(equal == NEVER_WRONG.get(state, equal) for state, _, equal in found.values())
    assert {certainty for _, certainty, _ in found.values()} == {Certainty.INFERRED}
    states = {name: state for (pod, name), (state, _, _) in found.items() if pod == "stays"}
    assert {name for name, state in states.items() if state is HeldState.NEEDS_RESTART} == {
        *("CHANGED", "URL", "BACK", "OPTIONAL_NEW", "PASSWORD", "REMADE", "REMADE_EQUAL"),
        *("W_CHANGED", "W_NEW", "/etc/part"),
    }
    assert {name for name, state in states.items() if state is HeldState.MISSING} == {"GONE"}
    # Whether an optional key was ever there, nobody can say, and nothing tells of keys that
    # left an object which is used whole.
    assert {name for name, state in states.items() if state is HeldState.UNKNOWN} == {
        "OPTIONAL_GONE"
    }
    assert "W_GONE" not in states


async def test_what_a_watch_saw_is_exactly_so(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        cluster = stage.scene.cluster
        async with StalenessWatch(cluster, clock=stage.clock) as watch:
            await change_everything(stage)
            # Each kind has a watch of its own, and each must have come so far.
            last = {"metadata": {"name": "last"}}
            await stage.scene.config_maps.create(last)
            await stage.scene.secrets.create(last)
            async for running in watch.changes():
                if {kind for kind, _, name in running.histories if name == "last"} == KINDS:
                    break
            found = await claims(stage, running)

    stale = (HeldState.NEEDS_RESTART, HeldState.MISSING)
    assert all(equal is (state not in stale) for state, _, equal in found.values())
    assert HeldState.UNKNOWN not in {state for state, _, _ in found.values()}
    differing = {name for (pod, name), (_, _, equal) in found.items() if not equal}
    assert differing == {
        *("CHANGED", "URL", "OPTIONAL_NEW", "OPTIONAL_GONE", "PASSWORD", "REMADE", "GONE"),
        *("W_CHANGED", "W_NEW", "W_GONE", "/etc/part"),
    }
    # Keys that were not there when the watch began may have been before.
    open_to_doubt = {name for (_, name), claim in found.items() if claim[1] is Certainty.INFERRED}
    assert open_to_doubt & differing == {"OPTIONAL_NEW", "W_NEW"}


async def test_a_container_that_was_started_again_has_what_is_there(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.patch("settings", changed="new", part="new")
        await stage.patch("whole", W_CHANGED="new", W_NEW="new")
        stage.clock.step()
        await stage.run_again("again")
        stage.clock.step()

        found = await claims(stage, await running_pods(stage.scene.cluster))

    again = {name: claim for (pod, name), claim in found.items() if pod == "again"}
    assert {state for state, _, _ in again.values()} == {HeldState.CURRENT, HeldState.UNKNOWN}
    assert all(equal for _, _, equal in again.values())
    assert found["stays", "CHANGED"] == (HeldState.NEEDS_RESTART, Certainty.INFERRED, False)
