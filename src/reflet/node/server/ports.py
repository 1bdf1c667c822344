"""Where the agent answers: a plain port, as for the kubelet's health, and one with TLS.

::

    port      who may ask                        what
    plain     everybody who can reach it         health, numbers, and pods without what they said
              on loopback, whom the API          pods with what they said; all the rest (logs,
              server lets                        streams, ports), unless there is the other port
    TLS       whom the API server lets           everything

A token is looked at on loopback and over TLS alone: nobody should get used to sending one in the
clear.

Upstream: pkg/kubelet/server/server.go, Server.InstallAuthRequiredHandlers
"""

from __future__ import annotations

import ssl
from contextlib import AsyncExitStack
from dataclasses import replace
from ipaddress import ip_address
from typing import Final, Self

from reflet.node.server.review import ReaderReview
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import Failure
from reflet.transport.serving.connections import MOST_CONNECTIONS
from reflet.transport.serving.http_answers import (
    Answer,
    Answering,
    HttpAnswers,
    Question,
    Upgrade,
    text,
)

PODS: Final = "pods"
OPEN: Final = frozenset({"livez", "readyz", "healthz", "metrics", PODS})
"""What everybody may ask; all else is for whom the API server lets, also what is new."""
IN_THE_CLEAR: Final = (
    "this is not sent in the clear over a network: give the agent --tls-cert-file and "
    "--tls-private-key-file, and ask its port with TLS"
)


class AgentPorts:
    """Listens while the context is open, at *plain* and, with TLS, at *secure*.

    Each is a host and a port, and port 0 takes a free one; a context comes with *secure*.  They
    share *connections*; the plain port keeps a quarter of them for itself, so that health is
    answered whatever happens at the other.
    """

    def __init__(
        self,
        pages: Answering,
        review: ReaderReview,
        *,
        plain: tuple[str, int] | None = None,
        secure: tuple[tuple[str, int], ssl.SSLContext] | None = None,
        connections: int = MOST_CONNECTIONS,
        permanent: PermanentTasks | None = None,
    ) -> None:
        self._pages = pages
        self._review = review
        self._closing = AsyncExitStack()
        both = plain is not None and secure is not None
        of_plain = max(2, connections // 4) if both else connections
        self._plain: HttpAnswers | None = None
        if plain is not None:
            self._plain = HttpAnswers(
                *plain, self._answer_anybody, most=of_plain, permanent=permanent
            )
        self._secure: HttpAnswers | None = None
        if secure is not None:
            place, context = secure
            most = connections - of_plain if both else connections
            self._secure = HttpAnswers(
                *place, self._answer_readers, context=context, most=most, permanent=permanent
            )

    @property
    def plain_url(self) -> str:
        """Where the plain port is; empty when there is none."""
        return "" if self._plain is None else f"http://{_place(self._plain)}"

    @property
    def secure_url(self) -> str:
        """Where the port with TLS is; empty when there is none."""
        return "" if self._secure is None else f"https://{_place(self._secure)}"

    @property
    def logs_port(self) -> int:
        """The port where logs are answered, which a Node tells; 0 when there is none."""
        if self._secure is not None:
            return self._secure.port
        plain = self._plain
        return 0 if plain is None or not _has_loopback(plain.host) else plain.port

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            for port in (self._secure, self._plain):
                if port is not None:
                    await undo.enter_async_context(port)
            self._closing = undo.pop_all()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def _answer_anybody(self, question: Question) -> Answer | Upgrade:
        is_near = _is_loopback(question.peer)
        if question.path and question.path[0] not in OPEN:
            if self._secure is not None:
                return text(404, f"this is answered over TLS, at port {self._secure.port}")
            return await self._answer_readers(question) if is_near else text(403, IN_THE_CLEAR)
        if question.path == (PODS,) and is_near and "authorization" in question.headers:
            return await self._answer_readers(question)
        return await self._pages(question)

    async def _answer_readers(self, question: Question) -> Answer | Upgrade:
        refusal = await self._review.refusal(question)
        if refusal is not None:
            return refusal
        return await self._pages(replace(question, is_reader=True))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _has_loopback(host: str) -> bool:
    """Whether somebody on loopback can reach what listens there; a name may be localhost."""
    try:
        address = ip_address(host)
    except ValueError:
        return True
    return address.is_loopback or address.is_unspecified


def _place(port: HttpAnswers) -> str:
    host = f"[{port.host}]" if ":" in port.host else port.host
    return f"{host}:{port.port}"
