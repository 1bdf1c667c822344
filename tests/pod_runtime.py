"""A runtime whose pods a test writes down.

Owns: the pods, the failures and the notes of what was asked.  Must not know who asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflet.pleg.runtime_status import (
    RuntimeContainer,
    RuntimePod,
    RuntimeSandbox,
    RuntimeState,
    RuntimeStatus,
)


def pod(
    uid: str,
    containers: Mapping[str, str] | None = None,
    sandboxes: Mapping[str, str] | None = None,
) -> RuntimePod:
    """A pod with these containers and sandboxes: their states by their ids."""
    return RuntimePod(
        uid=uid,
        name=f"name of {uid}",
        namespace="shop",
        containers=_listed(containers or {}),
        sandboxes=_listed(sandboxes or {}),
    )


class FakeRuntime:
    """Answers at once; what is in ``failures`` is raised instead of the answer of that name."""

    def __init__(self, *pods: RuntimePod) -> None:
        self.failures: dict[str, Exception] = {}
        self.ips: dict[str, tuple[str, ...]] = {}
        self.sandboxes: dict[str, tuple[RuntimeSandbox, ...]] = {}
        self.asked: list[str] = []
        self.show(*pods)

    def show(self, *pods: RuntimePod) -> None:
        """From now on, these are the pods."""
        self.pods = {pod.uid: pod for pod in pods}

    def statuses_asked(self) -> list[str]:
        """The pods whose status was asked for since this was called last."""
        asked = [text.removeprefix("status ") for text in self.asked if text.startswith("status ")]
        self.asked.clear()
        return asked

    async def list_pods(self) -> Sequence[RuntimePod]:
        await self._answering("list")
        return list(self.pods.values())

    async def find_pod(self, uid: str, /) -> RuntimePod | None:
        await self._answering(f"find {uid}")
        return self.pods.get(uid)

    async def pod_status(self, pod: RuntimePod, /) -> RuntimeStatus:
        await self._answering(f"status {pod.uid}")
        return RuntimeStatus(
            uid=pod.uid,
            name=pod.name,
            namespace=pod.namespace,
            ips=self.ips.get(pod.uid, ()),
            sandboxes=self.sandboxes.get(pod.uid, ()),
        )

    async def _answering(self, question: str) -> None:
        self.asked.append(question)
        if question in self.failures:
            raise self.failures[question]


def _listed(states: Mapping[str, str]) -> tuple[RuntimeContainer, ...]:
    return tuple(
        RuntimeContainer(container, name=container, state=RuntimeState(state))
        for container, state in states.items()
    )
