"""Speaks to webhooks: where they are, whether they are who they should be, and how long to wait.

A webhook is at a URL, or behind a Service, whose endpoints are looked up among the stored objects.
Connections are kept and used again until ``close``.

Upstream: apiserver/pkg/util/webhook/client.go, hookClientConfig;
apiserver/pkg/util/proxy/proxy.go, ResolveEndpoint
"""

from __future__ import annotations

import asyncio
import posixpath
import ssl
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final
from urllib.parse import urlsplit

import msgspec

from reflet.devserver.admission.admission_reviews import UNREACHED, CallFailed
from reflet.devserver.admission.webhook_matching import Webhook
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from reflet.gotext.quoting import quoted

if TYPE_CHECKING:
    import aiohttp

USER_AGENT: Final = "kube-apiserver-admission"
HTTPS_PORT: Final = 443
LARGEST_ANSWER: Final = 16 * 2**20  # bytes
LONGEST_EXCERPT: Final = 2048  # bytes of an answer that a message repeats
KEPT_CONTEXTS: Final = 64

_BY_CODE: Final[Mapping[int, str]] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be "
    "processing the request",
}
# How OpenSSL numbers the ways in which a chain does not end at somebody trusted.
_UNKNOWN_AUTHORITY: Final = frozenset({2, 18, 19, 20, 21})
_SERVICE_OF_SLICE: Final = "kubernetes.io/service-name"


class HookPlace(NamedTuple):
    """Where a webhook is: a path of a host, which may stand for a Service."""

    host: str
    port: int
    path: str
    service: tuple[str, str] | None = None  # namespace and name
    is_explicit: bool = True  # whether the port is shown

    @property
    def netloc(self) -> str:
        """The host as URLs show it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.is_explicit else host


@final
class WebhookClient:
    """Posts reviews to webhooks."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._session: aiohttp.ClientSession | None = None
        self._context = lru_cache(KEPT_CONTEXTS)(_context)

    async def post(self, webhook: Webhook, review: Mapping[str, Any]) -> bytes:
        """Give what a webhook answers; raises CallFailed when it cannot be had."""
        place = _place(webhook.client_config)
        query = f"{place.path}?timeout={webhook.timeout}s"
        shown = f'{UNREACHED}"https://{place.netloc}{query}": '
        try:
            address = place.netloc if place.service is None else self._endpoint(place)
            context = self._context(webhook.client_config.get("caBundle") or "", place.host)
            async with asyncio.timeout(webhook.timeout):
                return await self._answer(
                    f"https://{address}{query}", place, context, msgspec.json.encode(review)
                )
        except TimeoutError as error:
            raise CallFailed(f"{shown}context deadline exceeded") from error
        except (OSError, LookupError, ValueError) as error:
            raise CallFailed(f"{shown}{_said(error)}") from error

    async def close(self) -> None:
        """Close the connections that are kept."""
        if self._session is not None:
            await self._session.close()

    async def _answer(
        self, url: str, place: HookPlace, context: ssl.SSLContext, body: bytes
    ) -> bytes:
        import aiohttp  # noqa: PLC0415 - its client is for those who have webhooks

        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(), headers={"User-Agent": USER_AGENT}
            )
        try:
            async with self._session.post(
                url,
                data=body,
                headers={
                    "Accept": "application/json, */*",
                    "Content-Type": "application/json",
                    "Host": place.netloc,
                },
                ssl=context,
                server_hostname=place.host,
                allow_redirects=False,
            ) as response:
                content = bytearray()
                async for piece in response.content.iter_any():
                    content += piece
                    if len(content) > LARGEST_ANSWER:
                        raise ValueError(f"the answer has more than {LARGEST_ANSWER} bytes")
                problem = _problem(response.status, response.content_type, bytes(content))
                if problem:
                    raise CallFailed(f"failed to call webhook: {problem}")
                return bytes(content)
        except aiohttp.ClientConnectorCertificateError as error:
            raise OSError(_said(error.certificate_error)) from error
        except aiohttp.ClientConnectorError as error:
            raise OSError(f"dial tcp {error.host}:{error.port}: {_said(error.os_error)}") from error
        except aiohttp.ClientError as error:
            raise OSError(str(error) or "EOF") from error

    # Where

    def _endpoint(self, place: HookPlace) -> str:
        namespace, name = place.service or ("", "")
        stored = self._storage.get(Key("services", namespace, name))
        if stored is None:
            raise LookupError(f'service "{name}" not found')
        spec = stored.object.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return f"{spec.get('externalName')}:{place.port}"
        ports = [each for each in spec.get("ports") or () if each.get("port") == place.port]
        if not ports:
            raise LookupError(f'no service port {place.port} found for service "{name}"')
        for address, number in self._endpoints(namespace, name, ports[0].get("name") or ""):
            return f"[{address}]:{number}" if ":" in address else f"{address}:{number}"
        raise LookupError(f'no endpoints available for service "{name}"')

    def _endpoints(self, namespace: str, name: str, port: str) -> Iterator[tuple[str, int]]:
        """Give the addresses behind a port of a service: of its slices, then of its Endpoints."""
        for stored in self._storage.list("endpointslices.discovery.k8s.io", namespace):
            labels = stored.object["metadata"].get("labels") or {}
            if labels.get(_SERVICE_OF_SLICE) == name:
                ready = [
                    each["addresses"][0]
                    for each in stored.object.get("endpoints") or ()
                    if (each.get("conditions") or {}).get("ready") is not False
                ]
                yield from _on_port(ready, stored.object.get("ports"), port)
        old = self._storage.get(Key("endpoints", namespace, name))
        for subset in () if old is None else old.object.get("subsets") or ():
            addresses = [each["ip"] for each in subset.get("addresses") or ()]
            yield from _on_port(addresses, subset.get("ports"), port)


def _place(config: Mapping[str, Any]) -> HookPlace:
    service = config.get("service")
    if service is not None:
        found = (service.get("namespace") or "", service.get("name") or "")
        path = _cleaned(service.get("path") or "")
        return HookPlace(
            f"{found[1]}.{found[0]}.svc", service.get("port") or HTTPS_PORT, path, found
        )
    url = urlsplit(config.get("url") or "")
    try:
        port = url.port
    except ValueError as error:
        raise CallFailed(f"could not get REST client: {error}") from error
    if not url.hostname:
        raise CallFailed("webhook configuration must have either service or URL")
    return HookPlace(
        url.hostname, port or HTTPS_PORT, _cleaned(url.path), is_explicit=port is not None
    )


def _cleaned(path: str) -> str:
    """Write a path the shortest way: many a server answers another with a redirect."""
    return f"/{posixpath.normpath(f'/{path}').lstrip('/')}"


def _on_port(addresses: list[str], ports: Any, name: str) -> Iterator[tuple[str, int]]:
    for port in ports or ():
        if (port.get("name") or "") == name and port.get("port"):
            yield from ((address, port["port"]) for address in addresses)


def _context(bundle: str, _: str) -> ssl.SSLContext:
    """Trust a bundle, or without one what the system trusts; one for each name to be verified."""
    pem = b64decode(bundle).decode("ascii", "replace")
    context = ssl.create_default_context(cadata=pem or None)
    # As Go: no common names, and who is in the bundle is trusted, be it no authority.
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _said(error: BaseException) -> str:
    """Say what went wrong on a connection in Go's words, as far as there are some."""
    if isinstance(error, LookupError):
        return str(error.args[0])
    if isinstance(error, ssl.SSLCertVerificationError):
        is_stranger = error.verify_code in _UNKNOWN_AUTHORITY
        why = "certificate signed by unknown authority" if is_stranger else error.verify_message
        return f"tls: failed to verify certificate: x509: {why}"
    if isinstance(error, ConnectionRefusedError):
        return "connect: connection refused"
    return str(error) or type(error).__name__


def _problem(code: int, content_type: str, content: bytes) -> str:
    """Say why an answer cannot be a review; empty if it may be one."""
    if 200 <= code < 300:
        said = f"with status code: {code} and content type: {content_type}"
        return "" if content else f"0-length response {said}"
    text = content[:LONGEST_EXCERPT].decode("utf-8", "replace").strip()
    if code == 403 and text:
        return text
    if code in _BY_CODE:
        return _BY_CODE[code]
    if code >= 500:
        shown = quoted(text or "unknown")
        return f"an error on the server ({shown}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"
