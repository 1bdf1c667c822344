"""The agent's page of itself: its pods, what they get, and when their files were written.

Statuses and deliveries pass through here on their way; objects are those of the managers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import structs

from reflet.api.core.pods import Pod, PodStatus
from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
from reflet.node.options import NodeOptions
from reflet.node.pods.volume_manager import OnWritten
from reflet.node.status.status_manager import StatusSink
from reflet.resolution.objects import ConfigKind
from reflet.runtime.clock import Clock
from reflet.ui.agent_page import AgentPage

TOKEN_FILE: Final = "page-token"  # noqa: S105 - the name of a file
Keep = Callable[..., object]
"""Keeps a task that never ends, under a name."""


def page_of(options: NodeOptions, clock: Clock) -> AgentPage | None:
    """The page that the options ask for."""
    if options.ui is None:
        return None
    token_file = options.root / TOKEN_FILE
    return AgentPage(options.name, "node", port=options.ui, token_file=token_file, clock=clock)


def shown_statuses(inner: StatusSink, page: AgentPage | None) -> StatusSink:
    """Statuses for *inner*, and for the page if there is one."""
    return inner if page is None else ShownStatuses(inner, page)


def on_written(page: AgentPage | None) -> OnWritten:
    """Whom to tell of volumes with new contents."""
    return page.delivered if page is not None else lambda _pod, _volumes: None


class ShownStatuses:
    """Statuses of pods, on their way to *inner*, and on the page.  Is a ``StatusSink``."""

    def __init__(self, inner: StatusSink, page: AgentPage) -> None:
        self._inner = inner
        self._page = page
        self._pods: dict[str, Pod] = {}

    def report(self, pod: Pod, status: PodStatus, /) -> None:
        """This is the pod's status now."""
        self._pods[pod.metadata.uid] = pod
        self._page.put_pod(structs.replace(pod, status=status))
        self._inner.report(pod, status)

    async def finish(self, pod: Pod, /) -> None:
        """The pod has ended and can go."""
        await self._inner.finish(pod)
        self._drop(pod.metadata.uid)

    def forget(self, uid: str, /) -> None:
        """Nothing more is told of this pod."""
        self._inner.forget(uid)
        self._drop(uid)

    def _drop(self, uid: str) -> None:
        pod = self._pods.pop(uid, None)
        if pod is not None:
            self._page.drop_pod(pod)


def follow_objects(
    page: AgentPage, config_maps: ConfigMapManager, secrets: SecretManager, keep: Keep
) -> None:
    """Have the objects of the managers shown from now on."""
    keep(partial(_follow, page, config_maps, "ConfigMap"), name="configmaps of the page")
    keep(partial(_follow, page, secrets, "Secret"), name="secrets of the page")


async def _follow(page: AgentPage, manager: ObjectManager[Any], kind: ConfigKind) -> None:
    async for change in manager.subscribe():
        page.put_object(kind, change.namespace, change.name, change.object)
