"""How bytes reach an API server and come back.  Only this package speaks HTTP to a server.

- ``interface``: the seam, ``send`` and ``stream``; everything above is tested without sockets
- ``connection``: the transport that everybody uses: picks HTTP/2 or HTTP/1.1, adds credentials,
  the rate limit, request retries (429 and 5xx with Retry-After, one 401)
- ``rate_limit``: the token bucket (QPS and burst)
- ``failures``: what the system, TLS and other libraries say, as our errors
- ``setting_files``: reads the small files that settings name, and when they count as changed

``http``
    ``http2``: one connection: frames, GOAWAY, RST_STREAM, SETTINGS, flow control, and the pings
    that find half-open connections; ``http2_stream``: one request and its answer on it;
    ``http2_pool``: as many connections as the server's stream limit takes; ``http1``: HTTP/1.1;
    ``cert_rotation``: new connections when certificates change; ``grpc_channel``: gRPC calls;
    ``web_client``: requests to any other web server
``upgrades``
    WebSocket, SPDY/3.1 and the channels on them: what both sides of a command or a forwarded port
    speak, see there
``serving``
    a small HTTP server for what programs say about themselves: health, metrics, logs
``auth``
    ``credentials``: tokens, token files that rotate, passwords; ``exec_plugin``: exec credential
    plugins; ``certificates``: PEM into a TLS context
``config``
    ``settings``: all of it as one frozen value; ``kubeconfig``: from files and flags to settings;
    ``kubeconfig_loader``: reading and merging the files; ``user_credentials``: what a user of a
    kubeconfig becomes; ``in_cluster``: the service account of a pod; ``proxies``: HTTPS_PROXY
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.transport.auth.certificates import ClientCertificate, Pem
    from reflet.transport.auth.credentials import (
        BasicAuth, Credentials, NoCredentials, StaticToken, TokenFile,
    )
    from reflet.transport.auth.exec_plugin import ExecCredentials, ExecPlugin
    from reflet.transport.config.settings import ConnectionSettings, Impersonation
    from reflet.transport.connection import Connection
    from reflet.transport.interface import Request, Response, Stream, Transport
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.transport.auth.certificates": "ClientCertificate Pem",
        "reflet.transport.auth.credentials": (
            "BasicAuth Credentials NoCredentials StaticToken TokenFile"
        ),
        "reflet.transport.auth.exec_plugin": "ExecCredentials ExecPlugin",
        "reflet.transport.config.settings": "ConnectionSettings Impersonation",
        "reflet.transport.connection": "Connection",
        "reflet.transport.interface": "Request Response Stream Transport",
    })

__all__ = [
    "BasicAuth", "ClientCertificate", "Connection", "ConnectionSettings", "Credentials",
    "ExecCredentials", "ExecPlugin", "Impersonation", "NoCredentials", "Pem", "Request", "Response",
    "StaticToken", "Stream", "TokenFile", "Transport",
]
