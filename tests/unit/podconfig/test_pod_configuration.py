"""A registered pod's environments and volumes, now and as they change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.services import Service
from reflet.api.resources import SERVICES
from reflet.errors import ConnectionRefused
from reflet.informer.mirror import Mirror
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.pod_wakeups import PodWakeups
from reflet.podconfig.resolved_pod import ResolvedPod, difference
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.volume_delivery import mounted_folder
from reflet.testing.scripted_source import After, ScriptedSource, added, listing
from reflet.testing.virtual_time import VirtualClock
from tests.unit.podconfig.scenes import TokenDesk, served, web_pod
from tests.unit.resolution.scenes import NODE, pod_with, service, variable

pytestmark = pytest.mark.virtual_time

A_WHILE = 10.0


@asynccontextmanager
async def followed(
    configuration: PodConfiguration, **options: Any
) -> AsyncIterator[AsyncGenerator[ResolvedPod, None]]:
    async with configuration, aclosing(configuration.changes(**options)) as changes:
        yield changes


async def next_or_none(changes: AsyncGenerator[ResolvedPod, None]) -> ResolvedPod | None:
    """The next result, if there is one within a while; the iteration is then over."""
    try:
        async with asyncio.timeout(A_WHILE):
            return await anext(changes)
    except TimeoutError:
        return None


def texts(resolved: ResolvedPod) -> dict[str, dict[str, str]]:
    return {
        name: {path: file.data.decode() for path, file in contents.files.items()}
        for name, contents in resolved.volumes.items()
    }


async def test_a_pod_is_resolved_from_its_objects() -> None:
    async with served() as scene, scene.configuration(web_pod()) as configuration:
        resolved = await configuration.resolve()

    assert resolved.environments["web"].values == {"TEXT": "one"}
    assert texts(resolved) == {"files": {"text": "one"}, "keys": {"text": "hunter2"}}
    assert resolved.errors == ()


async def test_the_pod_is_registered_only_while_the_context_is_open() -> None:
    async with served() as scene:
        async with scene.configuration(web_pod()):
            inside = scene.config_maps.pods_using("shop", "settings")
        outside = scene.config_maps.pods_using("shop", "settings")

    assert ([key.name for key in inside], outside) == (["web-0"], ())


async def test_all_kinds_of_containers_are_resolved() -> None:
    pod = pod_with(initContainers=[{"name": "first"}], ephemeralContainers=[{"name": "debug"}])
    async with served() as scene, scene.configuration(pod) as configuration:
        resolved = await configuration.resolve()

    assert list(resolved.environments) == ["first", "web", "debug"]


async def test_the_present_result_comes_first_then_each_that_differs() -> None:
    async with served() as scene, followed(scene.configuration(web_pod())) as changes:
        first = await anext(changes)
        scene.config_map_server.put("shop", "settings", text="two")
        second = await anext(changes)

    assert list(difference(first, second).lines()) == [
        "container web: ~TEXT",
        "volume files: ~text",
    ]


async def test_an_edit_that_alters_nothing_is_no_change() -> None:
    async with served() as scene, followed(scene.configuration(web_pod())) as changes:
        await anext(changes)
        scene.config_map_server.put("shop", "settings", text="one")

        assert await next_or_none(changes) is None


async def test_an_irrelevant_key_is_no_change() -> None:
    pod = pod_with(
        {"env": [{"name": "A", "value": "1"}]},
        metadata={"uid": "u"},
        volumes=[
            {
                "name": "v",
                "configMap": {
                    "name": "settings",
                    "defaultMode": 420,
                    "items": [{"key": "other", "path": "other"}],
                    "optional": True,
                },
            },
        ],
    )
    async with served() as scene, followed(scene.configuration(pod)) as changes:
        await anext(changes)
        scene.config_map_server.put("shop", "settings", text="two")

        assert await next_or_none(changes) is None


async def test_changes_close_together_are_one() -> None:
    async with served() as scene, followed(scene.configuration(web_pod()), debounce=1) as changes:
        await anext(changes)
        scene.config_map_server.put("shop", "settings", text="two")
        await asyncio.sleep(0.5)
        scene.config_map_server.put("shop", "settings", text="three")
        scene.secret_server.put("shop", "password", text="hunter3")
        second = await anext(changes)

        assert texts(second) == {"files": {"text": "three"}, "keys": {"text": "hunter3"}}
        assert await next_or_none(changes) is None


async def test_a_slow_reader_misses_states_and_never_the_last() -> None:
    async with served() as scene, followed(scene.configuration(web_pod())) as changes:
        await anext(changes)
        for text in ("two", "three", "four"):
            scene.config_map_server.put("shop", "settings", text=text)
            await asyncio.sleep(1)

        assert texts(await anext(changes))["files"] == {"text": "four"}


async def test_a_deleted_object_is_an_error_and_its_return_is_told() -> None:
    async with served() as scene, followed(scene.configuration(web_pod())) as changes:
        await anext(changes)
        scene.secret_server.delete("shop", "password")
        gone = await anext(changes)
        scene.secret_server.put("shop", "password", text="hunter2")
        back = await anext(changes)

    assert gone.errors == ('volume keys: secret "password" not found',)
    assert (back.errors, texts(back)["keys"]) == ((), {"text": "hunter2"})


@pytest.mark.parametrize("strategy", ["watch", "auto", "get", "cache"])
async def test_a_server_that_is_away_changes_nothing(strategy: str) -> None:
    async with served(strategy=strategy) as scene:
        async with followed(scene.configuration(web_pod())) as changes:
            first = await anext(changes)
            for server in (scene.config_map_server, scene.secret_server):
                server.go_away()
            await asyncio.sleep(600)
            nothing = await next_or_none(changes)
        async with scene.configuration(web_pod()) as again:
            scene.config_map_server.come_back()
            scene.secret_server.come_back()
            await asyncio.sleep(120)
            resolved = await again.resolve()

    assert nothing is None
    assert not difference(first, resolved)


async def test_a_server_that_is_away_at_first_is_waited_for() -> None:
    async with served() as scene:
        for server in (scene.config_map_server, scene.secret_server):
            server.go_away()
        async with followed(scene.configuration(web_pod())) as changes:
            first = await anext(changes)
            for server in (scene.config_map_server, scene.secret_server):
                server.come_back()
            async with asyncio.timeout(120):
                while True:
                    last = await anext(changes)
                    if not last.errors:
                        break

    assert first.errors
    assert texts(last) == {"files": {"text": "one"}, "keys": {"text": "hunter2"}}


@pytest.mark.parametrize("strategy", ["get", "cache"])
async def test_where_nobody_tells_the_object_is_looked_at_again(strategy: str) -> None:
    async with (
        served(strategy=strategy) as scene,
        followed(scene.configuration(web_pod())) as changes,
    ):
        await anext(changes)
        scene.config_map_server.put("shop", "settings", text="two")
        async with asyncio.timeout(200):
            second = await anext(changes)

    assert texts(second)["files"] == {"text": "two"}


LABELS = {
    "name": "info",
    "downwardAPI": {
        "defaultMode": 420,
        "items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}],
    },
}


async def test_other_labels_of_the_pod_are_a_change() -> None:
    async with served() as scene:
        configuration = scene.configuration(web_pod(labels={"a": "1"}, more_volumes=[LABELS]))
        async with followed(configuration) as changes:
            first = await anext(changes)
            configuration.update(web_pod(labels={"a": "2"}, more_volumes=[LABELS]))
            second = await anext(changes)

    assert list(difference(first, second).lines()) == ["volume info: ~labels"]


async def test_a_pod_that_takes_the_place_of_another_is_registered_instead() -> None:
    async with served() as scene, scene.configuration(web_pod(uid="u-1")) as configuration:
        await configuration.resolve()
        configuration.update(web_pod(uid="u-2"))
        resolved = await configuration.resolve()

        assert [key.uid for key in scene.config_maps.pods_using("shop", "settings")] == ["u-2"]
        assert resolved.errors == ()


async def test_an_update_before_the_context_is_open_counts() -> None:
    async with served() as scene:
        configuration = scene.configuration(web_pod(labels={"a": "1"}))
        configuration.update(web_pod(labels={"a": "2"}))
        async with configuration:
            resolved = await configuration.resolve()

    assert resolved.pod.metadata.labels == configuration.pod.metadata.labels == {"a": "2"}


def pod_with_services() -> Any:
    return pod_with(metadata={"uid": "u-1"}, enableServiceLinks=True)


async def test_fixed_services_and_the_node_are_part_of_the_result() -> None:
    pod = pod_with(
        {
            "env": [
                variable("HOST", fieldRef={"apiVersion": "v1", "fieldPath": "status.hostIP"}),
                {
                    "name": "CPU",
                    "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}},
                },
            ]
        },
        metadata={"uid": "u-1"},
        enableServiceLinks=True,
        nodeName="node-1",
    )
    database = service("shop", "db", "10.0.0.1")
    async with (
        served() as scene,
        scene.configuration(pod, services=[database], node=lambda: NODE) as configuration,
    ):
        values = (await configuration.resolve()).environments["web"].values

    assert (values["DB_SERVICE_HOST"], values["HOST"], values["CPU"]) == (
        "10.0.0.1",
        "10.0.0.5",
        "4",
    )


async def test_services_of_a_mirror_are_followed() -> None:
    source: ScriptedSource[Service] = ScriptedSource(
        lists=[listing("5")], watches=[[After(3), added(service("shop", "db", "10.0.0.1"))]]
    )
    async with (
        served() as scene,
        Mirror(source, SERVICES, streaming=False) as services,
        followed(scene.configuration(pod_with_services(), services=services)) as changes,
    ):
        results = [await anext(changes)]
        async with asyncio.timeout(A_WHILE):
            while "DB_SERVICE_HOST" not in results[-1].environments["web"].values:
                results.append(await anext(changes))

    assert results[-1].environments["web"].values["DB_SERVICE_HOST"] == "10.0.0.1"
    assert results[-1].errors == ()


async def test_variables_from_files_are_read_from_mounted_volumes(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("KEY='value'\n")
    selector = {"volumeName": "work", "path": "env", "key": "KEY"}
    pod = pod_with(
        {"env": [{"name": "A", "valueFrom": {"fileKeyRef": selector}}]},
        metadata={"uid": "u-1"},
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    async with (
        served() as scene,
        scene.configuration(
            pod, volumes=lambda pod: {"work": mounted_folder(tmp_path)}
        ) as configuration,
    ):
        resolved = await configuration.resolve()

    assert resolved.environments["web"].values == {"A": "value"}


def token_pod(seconds: int = 3600) -> Any:
    token = {"path": "token", "expirationSeconds": seconds}
    return web_pod(
        more_volumes=[
            {
                "name": "api",
                "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": token}]},
            }
        ],
        serviceAccountName="builder",
    )


async def test_a_token_is_renewed_without_any_news() -> None:
    clock = VirtualClock()
    desk = TokenDesk(clock)
    tokens = ServiceAccountTokens(desk, clock=clock, chance=lambda: 0.0)
    async with (
        served() as scene,
        followed(scene.configuration(token_pod(), tokens=tokens)) as changes,
    ):
        first = await anext(changes)
        second = await anext(changes)
        moment = clock.monotonic()

    assert (texts(first)["api"], texts(second)["api"]) == (
        {"token": "token 1"},
        {"token": "token 2"},
    )
    assert moment == pytest.approx(3600 * 0.8, abs=1)
    assert list(difference(first, second).lines()) == ["volume api: ~token"]


async def test_a_token_that_cannot_be_had_is_tried_again() -> None:
    clock = VirtualClock()
    desk = TokenDesk(clock)
    desk.failure = ConnectionRefused("nobody is there")
    tokens = ServiceAccountTokens(desk, clock=clock, chance=lambda: 0.0)
    async with (
        served() as scene,
        followed(scene.configuration(token_pod(), tokens=tokens)) as changes,
    ):
        first = await anext(changes)
        desk.failure = None
        second = await anext(changes)

    assert first.errors == ("volume api: failed to fetch token: nobody is there",)
    assert texts(second)["api"] == {"token": "token 2"}


async def test_without_tokens_a_volume_that_needs_one_says_so() -> None:
    async with served() as scene, scene.configuration(token_pod()) as configuration:
        resolved = await configuration.resolve()

    assert resolved.errors == ("volume api: no token for service account builder can be had here",)


async def test_many_pods_share_one_ear() -> None:
    async with served() as scene, PodWakeups(scene.config_maps, scene.secrets) as wakeups:
        pods = [web_pod(uid=f"u-{number}") for number in range(3)]
        async with (
            followed(scene.configuration(pods[0], wakeups=wakeups)) as first,
            followed(scene.configuration(pods[1], wakeups=wakeups)) as second,
            followed(scene.configuration(pods[2], wakeups=wakeups)) as third,
        ):
            for changes in (first, second, third):
                await anext(changes)
            scene.config_map_server.put("shop", "settings", text="two")
            results = [texts(await anext(changes)) for changes in (first, second, third)]

    assert [each["files"] for each in results] == [{"text": "two"}] * 3


async def test_the_iteration_ends_when_the_context_is_left() -> None:
    seen: list[ResolvedPod] = []

    async def follow(configuration: PodConfiguration) -> None:
        async with aclosing(configuration.changes()) as changes:
            seen.extend([each async for each in changes])

    async with (
        served() as scene,
        asyncio.TaskGroup() as tasks,
        scene.configuration(web_pod()) as configuration,
    ):
        tasks.create_task(follow(configuration))
        await asyncio.sleep(1)

    assert len(seen) == 1


async def test_an_immutable_object_is_read_once_and_stays() -> None:
    async with served() as scene:
        scene.config_map_server.put("shop", "settings", text="fixed", immutable=True)
        async with followed(scene.configuration(web_pod())) as changes:
            first = await anext(changes)
            await asyncio.sleep(1)
            scene.config_map_server.delete("shop", "settings")

            assert texts(first)["files"] == {"text": "fixed"}
            assert await next_or_none(changes) is None


async def test_nothing_shows_a_secret() -> None:
    async with served() as scene, scene.configuration(web_pod()) as configuration:
        resolved = await configuration.resolve()

    assert "hunter2" not in f"{configuration!r} {resolved!r}"


async def test_whoever_looks_after_the_pod_is_woken_by_changes_and_not_by_his_own_updates() -> None:
    woken: list[str] = []
    async with (
        served() as scene,
        scene.configuration(web_pod(), wake=lambda: woken.append("woken")) as configuration,
    ):
        await configuration.resolve()
        woken.clear()
        configuration.update(web_pod(labels={"a": "b"}))
        by_update = list(woken)
        scene.config_map_server.put("shop", "settings", text="two")
        await asyncio.sleep(A_WHILE)

    assert (by_update, woken) == ([], ["woken"])
