"""The wire: how bytes reach an API server and come back.

- ``interface``: the seam, ``send`` and ``stream``
- ``http2``, ``http2_exchange``, ``http2_pool``: the seam over HTTP/2: a connection, one
  request on it, and as many connections as it takes
- ``http1``: the seam over HTTP/1.1, for proxies and servers without HTTP/2
- ``connection``: picks one of them, adds credentials, limits, patience
- ``lines``: chunks to whole lines
- ``failures``: what the system says, in our words
- ``settings``, ``certificates``, ``proxy_environment``: where the server is, how to trust it
- ``kubeconfig``, ``kubeconfig_file``, ``user_credentials``, ``in_cluster``, ``setting_files``:
  where the settings come from
- ``credentials``, ``exec_plugin``: who we say we are
- ``rate_limit``: how fast we may ask

Only this package speaks HTTP to a server.  It does not know kinds, versions or when a watch is
worth repeating.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.transport.auth.certificates import ClientCertificate, Pem
    from reflet.transport.auth.credentials import (
        BasicAuth,
        Credentials,
        NoCredentials,
        StaticToken,
        TokenFile,
    )
    from reflet.transport.auth.exec_plugin import ExecCredentials, ExecPlugin
    from reflet.transport.config.settings import ConnectionSettings, Impersonation
    from reflet.transport.connection import Connection
    from reflet.transport.interface import Request, Response, Stream, Transport
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.transport.auth.certificates": "ClientCertificate Pem",
            "reflet.transport.auth.credentials": (
                "BasicAuth Credentials NoCredentials StaticToken TokenFile"
            ),
            "reflet.transport.auth.exec_plugin": "ExecCredentials ExecPlugin",
            "reflet.transport.config.settings": "ConnectionSettings Impersonation",
            "reflet.transport.connection": "Connection",
            "reflet.transport.interface": "Request Response Stream Transport",
        },
    )

__all__ = [
    "BasicAuth", "ClientCertificate", "Connection", "ConnectionSettings", "Credentials",
    "ExecCredentials", "ExecPlugin", "Impersonation", "NoCredentials", "Pem", "Request", "Response",
    "StaticToken", "Stream", "TokenFile", "Transport",
]  # fmt: skip
