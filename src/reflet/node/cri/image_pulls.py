"""Having the image of a container: pull policies, credentials, back-off, and the kubelet's events.

Upstream: pkg/kubelet/images/image_manager.go, EnsureImageExists; puller.go
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from reflet.api.core.config import Secret
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.cri.cri_client import ImageService
from reflet.cri.messages.images import AuthConfig, Image, ImageSpec
from reflet.cri.messages.sandboxes import PodSandboxConfig
from reflet.errors import RefletError, RpcError
from reflet.gotext.durations import go_duration
from reflet.managers.manager import SecretManager
from reflet.node.cri.image_names import (
    InvalidImageName,
    default_policy,
    parse_image_name,
    with_default_tag,
)
from reflet.node.cri.keyring import InvalidPullSecret, credentials_for
from reflet.node.status.container_statuses import Waiting
from reflet.node.status.node_events import NodeEvents
from reflet.runtime.clock import Clock

ALWAYS, IF_NOT_PRESENT, NEVER = "Always", "IfNotPresent", "Never"
PULL_ERROR: Final = "ErrImagePull"
PULL_BACKOFF: Final = "ImagePullBackOff"
NEVER_PULL: Final = "ErrImageNeverPull"
INSPECT_ERROR: Final = "ImageInspectError"
INVALID_NAME: Final = "InvalidImageName"

FIRST_DELAY: Final = 10.0  # seconds
LONGEST_DELAY: Final = 300.0
MOST_PULLS: Final = 5  # at a time: each takes the whole of a line

_SPECIFIC: Final = {
    "RegistryUnavailable": "the registry is unavailable",
    "SignatureValidationFailed": "the signature validation failed",
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A pull that failed, and when the next may begin."""

    message: str
    delay: float
    at: float


class ImagePulls:
    """Pulls images for the containers of this node, *most* at a time.

    *on_pulled* is told the id of each image that was pulled.
    """

    def __init__(
        self,
        images: ImageService,
        secrets: SecretManager,
        events: NodeEvents,
        *,
        clock: Clock,
        first_delay: float = FIRST_DELAY,
        longest_delay: float = LONGEST_DELAY,
        most: int = MOST_PULLS,
        on_pulled: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._images = images
        self._secrets = secrets
        self._events = events
        self._clock = clock
        self._first_delay = first_delay
        self._longest_delay = longest_delay
        self._places = asyncio.Semaphore(most)
        self._on_pulled = on_pulled
        self._failures: dict[tuple[str, str], _Failure] = {}

    async def ensure(
        self, pod: Pod, container: Container, sandbox: PodSandboxConfig
    ) -> Image | Waiting:
        """Return the image of a container, pulled if need be, or why the container waits."""
        asked = container.image
        try:
            name = with_default_tag(asked)
        except InvalidImageName as error:
            message = f'Failed to apply default image tag "{asked}": {error}'
            self._events.of_pod(pod, WARNING, "InspectFailed", message, container=container.name)
            return Waiting(INVALID_NAME, message, INVALID_NAME)
        policy = container.image_pull_policy or default_policy(asked)
        spec = ImageSpec(image=name, annotations=dict(pod.metadata.annotations))
        if policy != ALWAYS:
            found = await self._present(pod, container, spec)
            if isinstance(found, Waiting):
                return found
            if found is not None:
                message = (
                    f'Container image "{asked}" already present on machine and can be accessed '
                    "by the pod"
                )
                self._tell(pod, container, "Pulled", message)
                return found
            if policy == NEVER:
                message = f'Container image "{asked}" is not present with pull policy of Never'
                self._events.of_pod(pod, WARNING, NEVER_PULL, message, container=container.name)
                return Waiting(NEVER_PULL, message, NEVER_PULL)
        return await self._pull(pod, container, spec, sandbox)

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        for key in [key for key in self._failures if key[0] == uid]:
            del self._failures[key]

    async def _present(
        self, pod: Pod, container: Container, spec: ImageSpec
    ) -> Image | Waiting | None:
        try:
            return (await self._images.image_status(spec)).image
        except RpcError as error:
            message = f'Failed to inspect image "": {error}'
            self._events.of_pod(pod, WARNING, "InspectFailed", message, container=container.name)
            return Waiting(INSPECT_ERROR, message, INSPECT_ERROR)

    async def _pull(
        self, pod: Pod, container: Container, spec: ImageSpec, sandbox: PodSandboxConfig
    ) -> Image | Waiting:
        clock, asked = self._clock, container.image
        key = (pod.metadata.uid, asked)
        failed = self._failures.get(key)
        if failed is not None and clock.monotonic() - failed.at < failed.delay:
            message = f'Back-off pulling image "{asked}"'
            self._tell(pod, container, "BackOff", message)
            return Waiting(PULL_BACKOFF, f"{message}: {failed.message}", PULL_BACKOFF)
        self._tell(pod, container, "Pulling", f'Pulling image "{asked}"')
        waited = clock.monotonic()
        try:
            auths = credentials_for(
                parse_image_name(spec.image).repository, await self._pull_secrets(pod)
            )
            async with self._places:
                began = clock.monotonic()
                image = await self._pulled(spec, auths, sandbox)
        except (RpcError, InvalidPullSecret) as error:
            return self._failed(pod, container, error)
        self._failures.pop(key, None)
        self._on_pulled(image.id)
        now = clock.monotonic()
        took, in_all = (go_duration(round(now - since, 3)) for since in (began, waited))
        self._tell(
            pod,
            container,
            "Pulled",
            f'Successfully pulled image "{asked}" in {took} ({in_all} including waiting). '
            f"Image size: {image.size} bytes.",
        )
        return image

    async def _pulled(
        self, spec: ImageSpec, auths: Sequence[AuthConfig], sandbox: PodSandboxConfig
    ) -> Image:
        """Pull with each of the credentials until one is let in."""
        tries: Sequence[AuthConfig | None] = auths or (None,)
        problem: RpcError | None = None
        for auth in tries:
            try:
                reference = await self._images.pull_image(spec, auth=auth, sandbox_config=sandbox)
            except RpcError as error:
                problem = problem or error
            else:
                found = await self._images.image_status(ImageSpec(image=reference))
                return found.image or Image(id=reference)
        if problem is None:
            raise AssertionError("there was nothing to try")
        raise problem

    def _failed(
        self, pod: Pod, container: Container, error: RpcError | InvalidPullSecret
    ) -> Waiting:
        asked, now = container.image, self._clock.monotonic()
        self._events.of_pod(
            pod,
            WARNING,
            "Failed",
            f'Failed to pull image "{asked}": {error}',
            container=container.name,
        )
        reason, message = _reason_of(asked, error)
        key = (pod.metadata.uid, asked)
        before = self._failures.get(key)
        delay = self._first_delay
        if before is not None and now - before.at < 2 * self._longest_delay:
            delay = min(2 * before.delay, self._longest_delay)
        self._failures[key] = _Failure(f"{reason}: {message}", delay, now)
        return Waiting(reason, message, reason)

    async def _pull_secrets(self, pod: Pod) -> list[Secret]:
        """The Secrets with credentials that the pod names; those that are not there are told."""
        found: list[Secret] = []
        missing: list[str] = []
        for reference in pod.spec.image_pull_secrets:
            if not reference.name:
                continue
            try:
                found.append(await self._secrets.get(pod.metadata.namespace, reference.name))
            except RefletError as error:
                logger.info("the pull secret %s cannot be had: %s", reference.name, error)
                missing.append(reference.name)
        if missing:
            self._events.of_pod(
                pod,
                WARNING,
                "FailedToRetrieveImagePullSecret",
                f"Unable to retrieve some image pull secrets ({', '.join(missing)}); attempting "
                "to pull the image may not succeed.",
            )
        return found

    def _tell(self, pod: Pod, container: Container, reason: str, message: str) -> None:
        self._events.of_pod(pod, NORMAL, reason, message, container=container.name)


def _reason_of(image: str, error: RpcError | InvalidPullSecret) -> tuple[str, str]:
    """The reason and the message of a pull that failed, as the kubelet words them."""
    said = error.description if isinstance(error, RpcError) else str(error)
    for reason, words in _SPECIFIC.items():
        if said.startswith(reason):
            rest = said.removeprefix(reason)
            return reason, f"image pull failed for {image} because {words}{rest}"
    return PULL_ERROR, str(error)
