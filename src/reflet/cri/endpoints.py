"""Where container runtimes listen: ``unix:///run/containerd/containerd.sock`` and others.

Upstream: k8s.io/cri-client/pkg/util/util_unix.go, GetAddressAndDialer
Upstream: sigs.k8s.io/cri-tools/cmd/crictl/main.go, defaultRuntimeEndpoints
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError, TransportError

DEFAULT_ENDPOINTS: Final = (
    "unix:///run/containerd/containerd.sock",
    "unix:///run/crio/crio.sock",
    "unix:///var/run/cri-dockerd.sock",
)
"""Where crictl looks, in its order."""

SCHEME: Final = "unix://"


def socket_path(endpoint: str, *, setting: str = "endpoint") -> str:
    """The path of the socket that *endpoint* names; a path alone is one too.

    ConfigurationError for anything else: CRI is only served to this machine.

    - *setting*: what errors call the endpoint
    """
    path = endpoint.removeprefix(SCHEME)
    if not path.startswith("/"):
        raise ConfigurationError(
            f"{setting} {endpoint}: not a unix socket; write it as {DEFAULT_ENDPOINTS[0]}"
        )
    return path


def find_endpoint(
    candidates: Sequence[str] = DEFAULT_ENDPOINTS, *, setting: str = "endpoint"
) -> str:
    """The first of *candidates* that has a socket; TransportError when none has.

    - *setting*: what errors call the endpoint
    """
    for endpoint in candidates:
        if _is_socket(socket_path(endpoint)):
            return endpoint
    tried = ", ".join(map(socket_path, candidates))
    raise TransportError(
        f"no container runtime was found ({tried}): name its socket with {setting}"
    )


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(Path(path).stat().st_mode)
    except OSError:
        return False
