"""A client of CRI v1: RuntimeService and ImageService of a container runtime, over its socket.

Methods are called as in ``api.proto``, and take and give its messages (``reflet.cri.messages``).
Deadlines are the kubelet's.  What fails is a ``RpcError`` of ``reflet.errors``.

Upstream: k8s.io/cri-client/pkg/remote_runtime.go, remote_image.go
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, Self, TypeVar

from reflet.cri.endpoints import socket_path
from reflet.cri.messages import containers, images, isolation, sandboxes, service
from reflet.cri.wire import CriMessage, decode, encode
from reflet.errors import DecodeError, RpcError
from reflet.transport.http.grpc_channel import GrpcChannel

TIMEOUT: Final = 120.0
"""Seconds that a call may take; the kubelet's --runtime-request-timeout."""

AnswerT = TypeVar("AnswerT", bound=CriMessage)


class CriClient:
    """Both services of the runtime that listens at *endpoint*, a unix socket.

    ::

        async with CriClient("unix:///run/containerd/containerd.sock") as cri:
            for container in await cri.runtime.list_containers():
                print(container.id, container.state.name)

    Nothing is asked before the first call, so a runtime that is not there yet is no error.

    - *timeout*: seconds for one call
    """

    def __init__(self, endpoint: str, *, timeout: float = TIMEOUT) -> None:
        self.endpoint = endpoint
        self._channel = GrpcChannel(socket_path(endpoint))
        self.runtime = RuntimeService(self._channel, timeout=timeout)
        self.images = ImageService(self._channel, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; calls that are under way fail."""
        await self._channel.close()


class _Service:
    """The calls of one service.

    - *channel*: the connection to the runtime
    - *timeout*: seconds for one call
    """

    name = ""

    def __init__(self, channel: GrpcChannel, *, timeout: float = TIMEOUT) -> None:
        self._channel = channel
        self._timeout = timeout

    async def _ask(
        self, method: str, request: CriMessage, answer: type[AnswerT], *, more: float = 0.0
    ) -> AnswerT:
        """Call *method*, for *more* seconds than usual."""
        return await self._ask_until(method, request, answer, timeout=self._timeout + more)

    async def _ask_until(
        self, method: str, request: CriMessage, answer: type[AnswerT], *, timeout: float | None
    ) -> AnswerT:
        path = f"/runtime.v1.{self.name}/{method}"
        return _decoded(
            answer, await self._channel.call(path, encode(request), timeout=timeout), method
        )


class RuntimeService(_Service):
    """Sandboxes and containers."""

    name = "RuntimeService"

    async def version(self) -> service.VersionResponse:
        """Which runtime it is, and which API it speaks."""
        return await self._ask("Version", service.VersionRequest(), service.VersionResponse)

    async def status(self, *, verbose: bool = False) -> service.StatusResponse:
        """Whether the runtime and its network are ready, and what it can."""
        request = service.StatusRequest(verbose=verbose)
        return await self._ask("Status", request, service.StatusResponse)

    # Sandboxes

    async def run_pod_sandbox(
        self, config: sandboxes.PodSandboxConfig, *, runtime_handler: str = ""
    ) -> str:
        """Make and start a sandbox; returns its id.  Has twice the time of other calls.

        - *config*: the pod: names, log folder, DNS, ports, namespaces
        - *runtime_handler*: handler of a RuntimeClass; empty is the default
        """
        request = sandboxes.RunPodSandboxRequest(config=config, runtime_handler=runtime_handler)
        answer = await self._ask(
            "RunPodSandbox", request, sandboxes.RunPodSandboxResponse, more=self._timeout
        )
        if not answer.pod_sandbox_id:
            raise _incomplete("RunPodSandbox", "PodSandboxId is not set for sandbox")
        return answer.pod_sandbox_id

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """End the sandbox and its containers at once; harmless when that was done before."""
        request = sandboxes.StopPodSandboxRequest(pod_sandbox_id=pod_sandbox_id)
        await self._ask("StopPodSandbox", request, sandboxes.StopPodSandboxResponse)

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Remove the sandbox and its containers, killing what runs; harmless when it is gone."""
        request = sandboxes.RemovePodSandboxRequest(pod_sandbox_id=pod_sandbox_id)
        await self._ask("RemovePodSandbox", request, sandboxes.RemovePodSandboxResponse)

    async def pod_sandbox_status(
        self, pod_sandbox_id: str, *, verbose: bool = False
    ) -> service.PodSandboxStatusResponse:
        """Everything about one sandbox; RpcNotFound when there is none."""
        request = sandboxes.PodSandboxStatusRequest(pod_sandbox_id=pod_sandbox_id, verbose=verbose)
        return await self._ask("PodSandboxStatus", request, service.PodSandboxStatusResponse)

    async def list_pod_sandbox(
        self, filter_: sandboxes.PodSandboxFilter | None = None
    ) -> tuple[sandboxes.PodSandbox, ...]:
        """The sandboxes that *filter_* lets through, in no order."""
        request = sandboxes.ListPodSandboxRequest(filter=filter_)
        return (await self._ask("ListPodSandbox", request, sandboxes.ListPodSandboxResponse)).items

    async def port_forward(self, pod_sandbox_id: str, ports: Sequence[int] = ()) -> str:
        """The address of the runtime's streaming server for ports of the pod.

        - *ports*: ports of the pod
        """
        request = service.PortForwardRequest(pod_sandbox_id=pod_sandbox_id, port=tuple(ports))
        return (await self._ask("PortForward", request, service.PortForwardResponse)).url

    # Containers

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: containers.ContainerConfig,
        sandbox_config: sandboxes.PodSandboxConfig,
    ) -> str:
        """Make a container in a sandbox, without starting it; returns its id.

        - *config*: image, command, environment, mounts and limits of the container
        - *sandbox_config*: what the sandbox was made from
        """
        request = containers.CreateContainerRequest(
            pod_sandbox_id=pod_sandbox_id, config=config, sandbox_config=sandbox_config
        )
        answer = await self._ask("CreateContainer", request, containers.CreateContainerResponse)
        if not answer.container_id:
            raise _incomplete("CreateContainer", "ContainerId is not set for container")
        return answer.container_id

    async def start_container(self, container_id: str) -> None:
        """Start a container that was made."""
        request = containers.StartContainerRequest(container_id=container_id)
        await self._ask("StartContainer", request, containers.StartContainerResponse)

    async def stop_container(self, container_id: str, *, grace: int) -> None:
        """End a container: its stop signal, and after *grace* seconds SIGKILL."""
        request = containers.StopContainerRequest(container_id=container_id, timeout=grace)
        await self._ask("StopContainer", request, containers.StopContainerResponse, more=grace)

    async def remove_container(self, container_id: str) -> None:
        """Remove a container, killing it if it runs; harmless when it is gone."""
        request = containers.RemoveContainerRequest(container_id=container_id)
        await self._ask("RemoveContainer", request, containers.RemoveContainerResponse)

    async def list_containers(
        self, filter_: containers.ContainerFilter | None = None
    ) -> tuple[containers.Container, ...]:
        """The containers that *filter_* lets through, in no order."""
        request = containers.ListContainersRequest(filter=filter_)
        return (
            await self._ask("ListContainers", request, containers.ListContainersResponse)
        ).containers

    async def container_status(
        self, container_id: str, *, verbose: bool = False
    ) -> containers.ContainerStatusResponse:
        """Everything about one container; RpcNotFound when there is none."""
        request = containers.ContainerStatusRequest(container_id=container_id, verbose=verbose)
        return await self._ask("ContainerStatus", request, containers.ContainerStatusResponse)

    async def update_container_resources(
        self, container_id: str, linux: isolation.LinuxContainerResources
    ) -> None:
        """Change the limits of a container that runs.

        - *linux*: the new limits
        """
        request = containers.UpdateContainerResourcesRequest(container_id=container_id, linux=linux)
        await self._ask(
            "UpdateContainerResources", request, containers.UpdateContainerResourcesResponse
        )

    async def reopen_container_log(self, container_id: str) -> None:
        """Have the log written to a new file, because the old one was moved away."""
        request = containers.ReopenContainerLogRequest(container_id=container_id)
        await self._ask("ReopenContainerLog", request, containers.ReopenContainerLogResponse)

    async def exec_sync(
        self, container_id: str, command: Sequence[str], *, timeout: int = 0
    ) -> containers.ExecSyncResponse:
        """Run a command in a container and return what it wrote, and its exit code.

        The runtime kills it after *timeout* seconds, and RpcDeadlineExceeded is raised; 0 lets it
        run for as long as it takes.

        - *command*: the program and its arguments
        """
        request = containers.ExecSyncRequest(
            container_id=container_id, cmd=tuple(command), timeout=timeout
        )
        deadline = self._timeout + timeout if timeout else None
        return await self._ask_until(
            "ExecSync", request, containers.ExecSyncResponse, timeout=deadline
        )

    async def exec(self, request: service.ExecRequest) -> str:
        """The address of the runtime's streaming server for a command.

        - *request*: container, command and streams
        """
        return (await self._ask("Exec", request, service.ExecResponse)).url

    async def attach(self, request: service.AttachRequest) -> str:
        """The address of the runtime's streaming server for a container's first process.

        - *request*: container and streams
        """
        return (await self._ask("Attach", request, service.AttachResponse)).url

    async def list_container_stats(
        self, filter_: service.ContainerStatsFilter | None = None
    ) -> tuple[service.ContainerStats, ...]:
        """What containers use.

        - *filter_*: which containers; None is all
        """
        request = service.ListContainerStatsRequest(filter=filter_)
        answer = await self._ask("ListContainerStats", request, service.ListContainerStatsResponse)
        return answer.stats

    @asynccontextmanager
    async def get_container_events(
        self,
    ) -> AsyncIterator[AsyncIterator[service.ContainerEventResponse]]:
        """Events from now on, until the runtime ends the stream or the context is left.

        RpcUnimplemented comes with the first event asked for: containerd has it since 1.7.
        """
        path = f"/runtime.v1.{self.name}/GetContainerEvents"
        async with self._channel.stream(path, b"") as messages:
            yield _events(messages)


class ImageService(_Service):
    """Images."""

    name = "ImageService"

    async def image_status(
        self, image: images.ImageSpec, *, verbose: bool = False
    ) -> images.ImageStatusResponse:
        """The image, None in the answer when it is not here; verbose ``info`` has its config.

        - *image*: the image's name or digest
        """
        request = images.ImageStatusRequest(image=image, verbose=verbose)
        return await self._ask("ImageStatus", request, images.ImageStatusResponse)

    async def list_images(
        self, filter_: images.ImageFilter | None = None
    ) -> tuple[images.Image, ...]:
        """The images that are here.

        - *filter_*: which images; None is all
        """
        request = images.ListImagesRequest(filter=filter_)
        return (await self._ask("ListImages", request, images.ListImagesResponse)).images

    async def pull_image(
        self,
        image: images.ImageSpec,
        *,
        auth: images.AuthConfig | None = None,
        sandbox_config: sandboxes.PodSandboxConfig | None = None,
    ) -> str:
        """Pull an image, however long that takes; returns its reference.

        - *image*: the image's name or digest
        - *auth*: credentials of the registry; None is none
        - *sandbox_config*: the pod that it is for; None is none
        """
        request = images.PullImageRequest(image=image, auth=auth, sandbox_config=sandbox_config)
        answer = await self._ask_until("PullImage", request, images.PullImageResponse, timeout=None)
        if not answer.image_ref:
            raise _incomplete("PullImage", "imageRef of the image is not set")
        return answer.image_ref

    async def remove_image(self, image: images.ImageSpec) -> None:
        """Remove an image; harmless when it is gone.

        - *image*: the image's name or digest
        """
        request = images.RemoveImageRequest(image=image)
        await self._ask("RemoveImage", request, images.RemoveImageResponse)

    async def image_fs_info(self) -> images.ImageFsInfoResponse:
        """The room that images and containers take."""
        return await self._ask(
            "ImageFsInfo", images.ImageFsInfoRequest(), images.ImageFsInfoResponse
        )


async def _events(
    messages: AsyncIterator[bytes],
) -> AsyncIterator[service.ContainerEventResponse]:
    async for message in messages:
        yield _decoded(service.ContainerEventResponse, message, "GetContainerEvents")


def _decoded(answer: type[AnswerT], data: bytes, method: str) -> AnswerT:
    try:
        return decode(answer, data)
    except DecodeError as error:
        raise RpcError("Internal", f"grpc: failed to unmarshal: {error}", method=method) from error


def _incomplete(method: str, words: str) -> RpcError:
    return RpcError("Internal", words, method=method)
