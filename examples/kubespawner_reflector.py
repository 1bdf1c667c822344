"""KubeSpawner's reflector on a mirror, with the same face.

JupyterHub's KubeSpawner keeps pods and events in a dictionary that many spawners read.  Here the
listing, watching, waiting and beginning again are the mirror's; what is left is the face: plain
dictionaries in ``resources`` by ``namespace/name``, ``first_load_future``, ``start``, ``stop``, and
``on_failure`` when it is hopeless.  ``python examples/kubespawner_reflector.py`` shows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import reflet
from reflet import AnyObject, Change, Cluster, Mirror, Pod
from reflet.devserver import DevServer
from reflet.errors import Forbidden, NotFound, RefletError, Unauthorized

HOPELESS = (Forbidden, NotFound, Unauthorized)


class ResourceReflector:
    """The objects of one kind, as plain dictionaries that follow the server."""

    def __init__(
        self,
        cluster: Cluster,
        kind: str,
        *,
        namespace: str | None = None,
        omit_namespace: bool = False,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        on_failure: Callable[[], None] = lambda: None,
        give_up_after: float = 60.0,
    ) -> None:
        self.resources: dict[str, dict[str, Any]] = {}
        self.changed = asyncio.Event()
        self.first_load_future: asyncio.Future[None] = asyncio.Future()
        self.on_failure, self.give_up_after = on_failure, give_up_after
        self._giving_up: asyncio.TimerHandle | None = None
        self._mirror: Mirror[AnyObject] = cluster.mirror(
            kind,
            raw=True,
            namespace=reflet.ALL_NAMESPACES if omit_namespace else namespace,
            label_selector=",".join(f"{key}={value}" for key, value in (labels or {}).items()),
            field_selector=",".join(f"{key}={value}" for key, value in (fields or {}).items()),
            on_connection=self._connection_changed,
        )

    async def start(self) -> None:
        """Return when everything is there; a server that says no is a failure at once."""
        await self._mirror.__aenter__()
        registration = self._mirror.add_handler(self._changed, name="resources")
        try:
            await self._mirror.synced(fail_on=HOPELESS)
            await registration.synced.wait()
            self.first_load_future.set_result(None)
        except RefletError as error:
            self.first_load_future.set_exception(error)
            self.on_failure()

    async def stop(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
        await self._mirror.__aexit__(None, None, None)

    def stopped(self) -> bool:
        return self._mirror.informer.is_stopped

    def _changed(self, change: Change[AnyObject]) -> None:
        if change.type == "DELETED":
            self.resources.pop(change.key, None)
        else:
            self.resources[change.key] = change.object.to_dict()
        self.changed.set()

    def _connection_changed(self, error: Exception | None) -> None:
        """A mirror never gives up; KubeSpawner does, after about a minute."""
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None
        if error is not None:
            loop = asyncio.get_running_loop()
            self._giving_up = loop.call_later(self.give_up_after, self.on_failure)


class PodReflector(ResourceReflector):
    def __init__(self, cluster: Cluster, **options: Any) -> None:
        super().__init__(cluster, "pods", **options)

    @property
    def pods(self) -> dict[str, dict[str, Any]]:
        return self.resources


class EventReflector(ResourceReflector):
    def __init__(self, cluster: Cluster, **options: Any) -> None:
        super().__init__(cluster, "events", **options)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The oldest first, as spawners show them."""
        return sorted(
            self.resources.values(),
            key=lambda event: event.get("lastTimestamp") or event.get("eventTime") or "",
        )


# The demonstration


async def main() -> None:
    hub = {"component": "singleuser-server"}
    container = {"name": "notebook", "image": "jupyter"}
    pod = {
        "metadata": {"name": "jupyter-ada", "labels": hub},
        "spec": {"containers": [container]},
    }
    async with (
        DevServer() as server,
        reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster,
    ):
        pods = PodReflector(cluster, labels=hub)
        await pods.start()
        print(f"first load: {sorted(pods.pods)}")
        await cluster.resource(Pod).create(pod)
        while "default/jupyter-ada" not in pods.pods:
            pods.changed.clear()
            await pods.changed.wait()
        print(f"spawned: {sorted(pods.pods)}")
        await pods.stop()


if __name__ == "__main__":
    asyncio.run(main())
