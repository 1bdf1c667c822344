"""Settings for a program that runs in a pod: its service account and the cluster's address.

Upstream: client-go/rest/config.go, InClusterConfig
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.credentials import TokenFile
from reflet.transport.config.settings import ConnectionSettings, checked_server

logger = logging.getLogger(__name__)

SERVICE_ACCOUNT_DIRECTORY: Final = PurePosixPath("var/run/secrets/kubernetes.io/serviceaccount")


def why_not_in_cluster(environ: Mapping[str, str], *, root: Path = Path("/")) -> str:
    """What is missing for in-cluster settings, in words; empty when they are possible."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        if not environ.get(name):
            return f"{name} is not set"
    token = root / SERVICE_ACCOUNT_DIRECTORY / "token"
    if not token.is_file():
        return f"{token} does not exist"
    return ""


def in_cluster_settings(
    environ: Mapping[str, str], *, root: Path = Path("/")
) -> ConnectionSettings:
    """Settings from the pod that this program runs in.

    Raises ConfigurationError when it does not run in one.
    """
    if why_not := why_not_in_cluster(environ, root=root):
        raise ConfigurationError(f"not running in a pod: {why_not}")
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    directory = root / SERVICE_ACCOUNT_DIRECTORY
    return ConnectionSettings(
        server=checked_server(
            f"https://{host}:{port}", "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"
        ),
        namespace=in_cluster_namespace(environ, root=root),
        certificate_authority=_authority(directory / "ca.crt"),
        credentials=TokenFile(directory / "token", setting="service account token"),
    )


def in_cluster_namespace(environ: Mapping[str, str], *, root: Path = Path("/")) -> str:
    """The pod's namespace: ``POD_NAMESPACE``, else its service account's, else ``default``."""
    if named := environ.get("POD_NAMESPACE"):
        return named
    try:
        text = (root / SERVICE_ACCOUNT_DIRECTORY / "namespace").read_text("utf-8")
    except OSError:
        return "default"  # mounting the namespace is optional, so its absence is normal
    return text.strip() or "default"


def _authority(path: Path) -> Pem | None:
    if path.exists():
        return Pem("service account certificate authority", path=path)
    logger.warning("%s does not exist: the system's certificate authorities are used", path)
    return None
