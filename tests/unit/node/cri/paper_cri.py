"""A container runtime on paper: what CRI would answer, from lists in hand.

Owns: sandboxes, containers and images by id, and notes of what was asked.  Must not know what a
test claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from reflet.cri.cri_client import ImageService, RuntimeService
from reflet.cri.messages.containers import (
    Container,
    ContainerConfig,
    ContainerFilter,
    ContainerState,
    ContainerStatus,
    ContainerStatusResponse,
    ExecSyncResponse,
)
from reflet.cri.messages.images import (
    AuthConfig,
    FilesystemIdentifier,
    FilesystemUsage,
    Image,
    ImageFsInfoResponse,
    ImageSpec,
    ImageStatusResponse,
)
from reflet.cri.messages.sandboxes import (
    PodSandbox,
    PodSandboxConfig,
    PodSandboxFilter,
    PodSandboxNetworkStatus,
    PodSandboxState,
    PodSandboxStatus,
)
from reflet.cri.messages.service import (
    PodSandboxStatusResponse,
    RuntimeCondition,
    RuntimeStatus,
    StatusResponse,
    VersionResponse,
)
from reflet.errors import RpcError, RpcNotFound

READY = (
    RuntimeCondition(type="RuntimeReady", status=True),
    RuntimeCondition(type="NetworkReady", status=True),
)


class PaperCri:
    """Both services.  What is in ``failures`` is raised by the method of that name."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures: dict[str, RpcError] = {}
        self.vanished: set[str] = set()  # containers that are listed, and gone when asked for
        self.sandboxes: dict[str, PodSandbox] = {}
        self.containers: dict[str, Container] = {}
        self.configs: dict[str, ContainerConfig] = {}
        self.images: dict[str, Image] = {}
        self.pullable: dict[str, Image] = {}
        self.auths: list[AuthConfig | None] = []
        self.conditions: Sequence[RuntimeCondition] = READY
        self.executed = ExecSyncResponse()
        self.log_paths: dict[str, str] = {}
        self.address = "10.1.0.2"
        self.disk = "/"

    @property
    def runtime(self) -> RuntimeService:
        return cast("RuntimeService", self)

    @property
    def image_service(self) -> ImageService:
        return cast("ImageService", self)

    def note(self, method: str, what: str = "") -> None:
        self.asked.append(f"{method} {what}".strip())
        if method in self.failures:
            raise self.failures[method]

    async def version(self) -> VersionResponse:
        self.note("version")
        return VersionResponse(runtime_name="paper", runtime_version="1")

    async def status(self) -> StatusResponse:
        self.note("status")
        return StatusResponse(status=RuntimeStatus(conditions=tuple(self.conditions)))

    # Sandboxes

    async def run_pod_sandbox(self, config: PodSandboxConfig, *, runtime_handler: str = "") -> str:
        self.note("run", runtime_handler)
        made = f"s{len(self.sandboxes)}"
        self.sandboxes[made] = PodSandbox(
            id=made,
            metadata=config.metadata,
            created_at=len(self.sandboxes),
            labels=config.labels,
        )
        return made

    async def list_pod_sandbox(
        self, filter_: PodSandboxFilter | None = None
    ) -> tuple[PodSandbox, ...]:
        asked = filter_ or PodSandboxFilter()
        return tuple(
            each
            for each in self.sandboxes.values()
            if asked.label_selector.items() <= each.labels.items()
            and (asked.state is None or asked.state.state is each.state)
        )

    async def pod_sandbox_status(
        self, sandbox: str, *, verbose: bool = False
    ) -> PodSandboxStatusResponse:
        del verbose
        network = PodSandboxNetworkStatus(ip=self.address)
        return PodSandboxStatusResponse(status=PodSandboxStatus(id=sandbox, network=network))

    async def stop_pod_sandbox(self, sandbox: str) -> None:
        self.note("stop sandbox", sandbox)
        self.sandboxes[sandbox] = replace(self.sandboxes[sandbox], state=PodSandboxState.NOTREADY)

    async def remove_pod_sandbox(self, sandbox: str) -> None:
        self.note("remove sandbox", sandbox)
        del self.sandboxes[sandbox]

    # Containers

    async def create_container(
        self, sandbox: str, config: ContainerConfig, _: PodSandboxConfig
    ) -> str:
        self.note("create")
        made = f"c{len(self.containers)}"
        self.configs[made] = config
        self.containers[made] = Container(
            id=made,
            pod_sandbox_id=sandbox,
            metadata=config.metadata,
            created_at=len(self.containers),
            labels=config.labels,
            annotations=config.annotations,
        )
        return made

    async def start_container(self, container: str) -> None:
        self.note("start", container)
        self._become(container, ContainerState.RUNNING)

    async def stop_container(self, container: str, *, grace: int) -> None:
        self.note("stop", f"{container} {grace}")
        if container not in self.containers:
            raise RpcNotFound("NotFound", "no such container")
        self._become(container, ContainerState.EXITED)

    async def remove_container(self, container: str) -> None:
        self.note("remove", container)
        del self.containers[container]

    async def list_containers(
        self, filter_: ContainerFilter | None = None
    ) -> tuple[Container, ...]:
        asked = filter_ or ContainerFilter()
        return tuple(
            each
            for each in self.containers.values()
            if asked.label_selector.items() <= each.labels.items()
            and (asked.state is None or asked.state.state is each.state)
        )

    async def container_status(
        self, container: str, *, verbose: bool = False
    ) -> ContainerStatusResponse:
        self.note("container status", container)
        if container in self.vanished:
            raise RpcNotFound("NotFound", "no such container")
        known = self.containers[container]
        status = ContainerStatus(
            id=container, state=known.state, log_path=self.log_paths.get(container, "")
        )
        info = {"info": '{"pid": 4194305}'} if verbose else {}
        return ContainerStatusResponse(status=status, info=info)

    async def reopen_container_log(self, container: str) -> None:
        self.note("reopen", container)

    async def exec_sync(
        self, container: str, command: Sequence[str], *, timeout: int
    ) -> ExecSyncResponse:
        self.note("exec", f"{container} {' '.join(command)} {timeout}")
        return self.executed

    def _become(self, container: str, state: ContainerState) -> None:
        self.containers[container] = replace(self.containers[container], state=state)

    # Images

    async def image_status(self, spec: ImageSpec) -> ImageStatusResponse:
        self.note("image status", spec.image)
        return ImageStatusResponse(image=self.images.get(spec.image))

    async def pull_image(self, spec: ImageSpec, *, auth: AuthConfig | None = None, **_: Any) -> str:
        self.auths.append(auth)
        self.note("pull", spec.image)
        found = self.pullable.get(spec.image)
        if found is None:
            raise RpcNotFound("NotFound", f"{spec.image}: not found")
        self.images[spec.image] = self.images[found.id] = found
        return found.id

    async def list_images(self) -> tuple[Image, ...]:
        return tuple({each.id: each for each in self.images.values()}.values())

    async def remove_image(self, spec: ImageSpec) -> None:
        self.note("remove image", spec.image)
        self.images = {name: each for name, each in self.images.items() if each.id != spec.image}

    async def image_fs_info(self) -> ImageFsInfoResponse:
        place = FilesystemUsage(fs_id=FilesystemIdentifier(mountpoint=self.disk))
        return ImageFsInfoResponse(image_filesystems=(place,))
