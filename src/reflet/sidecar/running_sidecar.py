"""From settings to a sidecar that runs: connection, namespace, and the port that answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from reflet.cluster import Cluster
from reflet.errors import ConfigurationError
from reflet.sidecar.log_lines import health_logger, logger
from reflet.sidecar.sidecar import Sidecar
from reflet.sidecar.sidecar_page import SidecarPage
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.serving.http_answers import HttpAnswers
from reflet.ui.agent_page import AgentPage

NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
MOST_CONNECTIONS: Final = 32
TOKEN_FILE: Final = "reflet-sidecar-page-token"  # noqa: S105 - the name of a file


async def run_sidecar(settings: SidecarSettings, environ: Mapping[str, str]) -> None:
    """Run one sidecar until it is cancelled, or has read everything once."""
    for warning in settings.warnings:
        logger.warning(warning)
    settings = _settled(settings)
    connection = connection_settings(settings, environ)
    logger.debug("Config for cluster api at '%s' loaded.", connection.server)
    namespace = own_namespace(connection)
    async with AsyncExitStack() as closing:
        cluster = await closing.enter_async_context(Cluster(connection))
        page = await _page(settings, closing) if settings.ui_port else None
        sidecar = Sidecar(settings, cluster, namespace=namespace, page=page)
        if settings.health_port:
            await _serve(sidecar, settings, closing)
        await sidecar.run()


def _settled(settings: SidecarSettings) -> SidecarSettings:
    """The settings with FOLDER as it is from everywhere."""
    return replace(settings, folder=os.path.abspath(settings.folder))  # noqa: PTH100 - a text


def connection_settings(
    settings: SidecarSettings, environ: Mapping[str, str], *, root: Path = Path("/")
) -> ConnectionSettings:
    """Where the API server is: the kubeconfig if it is there, else the pod's service account."""
    named = {"KUBECONFIG": settings.kubeconfig} if settings.kubeconfig else {}
    overrides = Overrides(insecure_skip_tls_verify=settings.skip_tls_verify)
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() fails without a home
    return resolve_settings(overrides, {**environ, **named}, home, root=root)


def own_namespace(connection: ConnectionSettings, file: Path = NAMESPACE_FILE) -> str:
    """The namespace of the pod around us; outside of one, that of the connection."""
    try:
        return file.read_text().strip() or connection.namespace
    except OSError:
        return connection.namespace


async def _serve(sidecar: Sidecar, settings: SidecarSettings, closing: AsyncExitStack) -> None:
    """Answer at HEALTH_PORT; the sidecar works without, as in a pod whose sidecars share a port."""
    refusal: ConfigurationError | None = None
    for host in (settings.health_host,) if settings.health_host else ("", "0.0.0.0"):  # noqa: S104
        answers = HttpAnswers(
            host, settings.health_port, sidecar.pages.answer, most=MOST_CONNECTIONS
        )
        try:
            await closing.enter_async_context(answers)
        except ConfigurationError as error:
            refusal = error
        else:
            health_logger.info("Starting health server on port %d", settings.health_port)
            return
    health_logger.warning("health is not served: %s", refusal)


async def _page(settings: SidecarSettings, closing: AsyncExitStack) -> SidecarPage | None:
    """Show a page at UI_PORT; the sidecar works without, as it does without health."""
    token_file = Path(tempfile.gettempdir()) / TOKEN_FILE
    page = AgentPage(
        Path(settings.folder).name, "sidecar", port=settings.ui_port, token_file=token_file
    )
    try:
        await closing.enter_async_context(page)
    except (ConfigurationError, OSError) as error:
        logger.warning("the page is not shown: %s", error)
        return None
    logger.info("page at %s, its token in %s", page.url, token_file)
    return SidecarPage(page, settings)
