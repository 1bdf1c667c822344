"""What could be read once stays known while nobody can tell whether it has changed."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.errors import (
    CacheNotSynced,
    ConnectionRefused,
    CredentialsError,
    DeadlineExceeded,
    DecodeError,
    Forbidden,
    NotFound,
    NotRegistered,
    RefletError,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
)
from reflet.podconfig.last_known_objects import LastKnownObjects, is_no_answer
from tests.unit.podconfig.scenes import served, web_pod


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (ConnectionRefused("refused"), True),
        (DeadlineExceeded("late"), True),
        (DecodeError("garbled"), True),
        (CredentialsError("no token"), True),
        (CacheNotSynced("secret", "shop", "s"), True),
        (NotRegistered("shop", "s"), True),
        (ServiceUnavailable("away", code=503), True),
        (TooManyRequests("busy", code=429), True),
        (NotFound("gone", code=404), False),
        (Forbidden("no", code=403), False),
        (Unauthorized("who", code=401), False),
        (RefletError("other"), False),
    ],
)
def test_some_errors_say_nothing_about_the_object(error: RefletError, answer: bool) -> None:
    assert is_no_answer(error) is answer


def test_a_read_that_is_forbidden_is_an_answer() -> None:
    error = CacheNotSynced("secret", "shop", "s")
    error.__cause__ = Forbidden("no", code=403)

    assert not is_no_answer(error)


@pytest.mark.virtual_time
async def test_what_was_known_is_answered_while_the_server_is_away() -> None:
    async with served(strategy="get") as scene:
        pod = web_pod()
        objects = LastKnownObjects(scene.config_maps, scene.secrets)
        for manager in (scene.config_maps, scene.secrets):
            manager.register_pod(pod)
        first = await objects.read(pod)
        scene.config_map_server.go_away()
        scene.secret_server.delete("shop", "password")

        second = await objects.read(pod)

    settings = second.config_map("shop", "settings")
    assert isinstance(settings, ConfigMap)
    assert settings == first.config_map("shop", "settings")
    assert isinstance(second.secret("shop", "password"), NotFound)


@pytest.mark.virtual_time
async def test_what_was_never_known_keeps_its_error() -> None:
    async with served(strategy="get") as scene:
        pod = web_pod()
        for manager in (scene.config_maps, scene.secrets):
            manager.register_pod(pod)
        scene.config_map_server.go_away()

        objects = await LastKnownObjects(scene.config_maps, scene.secrets).read(pod)

    assert isinstance(objects.config_map("shop", "settings"), ConnectionRefused)


class Counted:
    """Has every object, and counts how often each was read."""

    def __init__(self, kind: type[ConfigMap | Secret]) -> None:
        self._kind = kind
        self.reads: list[str] = []

    async def get(self, namespace: str, name: str, /) -> Any:
        self.reads.append(name)
        return self._kind(metadata=ObjectMeta(namespace=namespace, name=name))


async def test_each_object_is_read_once_however_often_the_pod_mentions_it() -> None:
    config_maps, secrets = Counted(ConfigMap), Counted(Secret)

    await LastKnownObjects(config_maps, secrets).read(web_pod())

    assert (config_maps.reads, secrets.reads) == (["settings"], ["password"])
