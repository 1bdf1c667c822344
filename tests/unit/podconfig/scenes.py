"""Pods with configuration, results by hand, and a server that issues tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.variables import Assignment, Environment, Variable
from reflet.resolution.origins import ConfigMapOrigin, ValueOrigin
from reflet.resolution.places import Place
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.runtime.clock import Clock
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.resolution.scenes import pod_with

LINKED: Mapping[str, Any] = {
    "env": [
        {"name": "TEXT", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "text"}}}
    ],
}
FILES: Sequence[Mapping[str, Any]] = (
    {"name": "files", "configMap": {"name": "settings", "defaultMode": 0o644}},
    {"name": "keys", "secret": {"secretName": "password", "defaultMode": 0o400}},
)


def web_pod(*, labels: dict[str, str] | None = None, uid: str = "u-1", **spec: Any) -> Pod:
    """A pod with a variable from ``settings``, and ``settings`` and ``password`` as volumes."""
    return pod_with(
        dict(LINKED),
        metadata={"uid": uid, "labels": labels or {}},
        **{"volumes": [*FILES, *spec.pop("more_volumes", ())], **spec},
    )


def result(
    variables: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    *,
    error: str | None = None,
    volume_error: str | None = None,
    mode: int = 0o644,
    group: int | None = None,
    version: str = "1",
) -> ResolvedPod:
    """A result with one container, ``web``, and one volume, ``files``."""
    origin = ConfigMapOrigin(namespace="shop", name="x", key="k", resource_version=version)
    environment = Environment(
        namespace="shop",
        pod="web-0",
        container="web",
        error=error,
        variables={
            name: Variable(
                name=name,
                assignment=Assignment(value=value, origin=origin, place=Place(), sensitive=True),
            )
            for name, value in (variables or {}).items()
        },
    )
    contents = VolumeContents(
        volume="files",
        kind="secret",
        error=volume_error,
        fs_group=group,
        files={
            path: FileContent(data=text.encode(), mode=mode, origin=ValueOrigin(), sensitive=True)
            for path, text in (files or {}).items()
        },
    )
    return ResolvedPod(
        pod=pod_with(), environments={"web": environment}, volumes={"files": contents}
    )


@dataclass
class Served:
    """The servers behind two managers, and the managers."""

    config_maps: ConfigMapManager
    secrets: SecretManager
    config_map_server: ServedObjects
    secret_server: ServedObjects

    def configuration(self, pod: Pod, **options: Any) -> PodConfiguration:
        """The configuration of a pod."""
        return PodConfiguration(
            pod, self.config_maps, self.secrets, clock=VirtualClock(), **options
        )


@asynccontextmanager
async def served(*, strategy: str = "watch") -> AsyncIterator[Served]:
    """Managers of a server that has ``settings`` and ``password``."""
    config_map_server, secret_server = ServedObjects(ConfigMap), ServedObjects(Secret)
    config_map_server.put("shop", "settings", text="one")
    secret_server.put("shop", "password", text="hunter2")
    async with (
        ConfigMapManager(config_map_server, strategy=strategy, clock=VirtualClock()) as config_maps,
        SecretManager(secret_server, strategy=strategy, clock=VirtualClock()) as secrets,
    ):
        yield Served(config_maps, secrets, config_map_server, secret_server)


@dataclass(frozen=True)
class Issued:
    """A token, as a server gives it."""

    token: str
    expiration_timestamp: datetime


@dataclass
class TokenDesk:
    """Issues numbered tokens, or refuses; remembers who asked for what."""

    clock: Clock
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    failure: RefletError | None = None
    life: Callable[[int], float] = float

    async def request_token(
        self,
        service_account: str,
        *,
        namespace: str | None,
        audiences: Sequence[str],
        expiration_seconds: int,
        pod: tuple[str, str] | None,
    ) -> Issued:
        """A new token."""
        self.asked.append((service_account, namespace, tuple(audiences), expiration_seconds, pod))
        if self.failure is not None:
            raise self.failure
        ends = self.clock.now() + timedelta(seconds=self.life(expiration_seconds))
        return Issued(f"token {len(self.asked)}", ends)


def numbers(*given: float) -> Callable[[], float]:
    """Chance by hand."""
    waiting: Iterator[float] = iter(given)
    return lambda: next(waiting)
