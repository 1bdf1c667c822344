"""Opening the runtime whose containers are processes: the shim, what it left, the relist loop."""

from __future__ import annotations

from contextlib import AsyncExitStack

from reflet._version import __version__
from reflet.node.container_runtime import ContainerLauncher
from reflet.node.descriptor_budget import budget_with
from reflet.node.opened_runtime import LaunchParts, OpenedRuntime, RuntimeParts
from reflet.node.process_launch import ProcessLauncher
from reflet.node.process_runtime import ProcessRuntime
from reflet.node.server.log_service import FindPod
from reflet.node.server.pod_services import PodServices
from reflet.node.shim.shim_client import ShimClient
from reflet.pleg.relist import Pleg
from reflet.pleg.status_cache import StatusCache


async def open_process_runtime(undo: AsyncExitStack, parts: RuntimeParts) -> OpenedRuntime:
    """Find the shim or start one; *undo* closes it, and ends it where no containers go on."""
    options = parts.options
    shim = await undo.enter_async_context(
        ShimClient(
            options.root,
            on_ended=parts.on_ended,
            on_lost=parts.on_lost,
            clock=parts.clock,
            permanent=parts.permanent,
        )
    )

    async def stop() -> None:
        if not parts.containers_go_on():
            await shim.stop()

    # Behind the relist loop in the order of closing: nobody asks a shim that has ended.
    undo.push_async_callback(stop)
    budget = budget_with(shim.pid)
    runtime = ProcessRuntime(parts.directories, shim, addresses=parts.addresses, clock=parts.clock)
    left = runtime.load()
    cache = StatusCache()
    pleg = await undo.enter_async_context(Pleg(runtime, cache, **parts.pleg_options()))

    def launcher(given: LaunchParts) -> ContainerLauncher:
        return ProcessLauncher(runtime, given.volumes, allowance=given.allowance, disk=given.disk)

    def services(find_pod: FindPod) -> PodServices:
        return PodServices.of(
            runtime, find_pod, folder=options.root / "commands", budget=budget, clock=parts.clock
        )

    # What ``kubectl get nodes -o wide`` shows as the runtime: whether containers are parted.
    kind = "reflet-namespaces" if options.run and options.isolation else "reflet-processes"
    return OpenedRuntime(
        runtime=runtime,
        cache=cache,
        pleg=pleg,
        left=left,
        budget=budget,
        version=f"{kind}://{__version__}",
        launcher=launcher,
        services=services,
    )
