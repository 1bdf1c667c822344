"""A development server that runs: its sockets, its credentials, its kubeconfig, its data.

::

    async with DevServer() as server:
        server.kubeconfig_path, server.url, server.token

For development and tests only: everybody with the token may do everything, and nothing here
was made to withstand the internet.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, final

from reflet.devserver.admission.webhook_client import WebhookClient
from reflet.devserver.admission.webhooks import Webhooks
from reflet.devserver.companion import NOBODY, Companion
from reflet.devserver.http.application import Application
from reflet.devserver.http.malformed_requests import TacitServer
from reflet.devserver.http.secure_serving import (
    ServingCertificate,
    serving_certificate,
    tls_factory,
    write_private,
)
from reflet.devserver.request.authentication import Authenticator, TokenIssuer, is_loopback
from reflet.devserver.storage.sqlite_journal import SqliteJournal
from reflet.devserver.storage.storage import Storage, StorageSnapshot
from reflet.devserver.verbs import loading
from reflet.devserver.verbs.loading import Source
from reflet.devserver.verbs.state import LogSource, State, utc_now
from reflet.errors import ConfigurationError

if TYPE_CHECKING:
    from reflet.devserver.faults import Faults, RequestLog

LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognized, not chosen
CONTEXT: Final = "reflet"
WAITING_CONNECTIONS: Final = 4096
LONGEST_LINE: Final = 128 * 1024  # bytes of a request line or header
STEPS_OF_A_CONNECTION: Final = 3  # rounds of the loop from accepting one to knowing it
STOP_TIMEOUT: Final = 1.0  # seconds for answers that are being sent when the server stops

TOKEN_FILE: Final = "token"  # noqa: S105 - a file's name
SECRET_FILE: Final = "service-account.key"  # noqa: S105 - a file's name

logger = logging.getLogger(__name__)


@final
class DevServer:
    """A Kubernetes API on a port of this machine, for as long as the ``async with`` lasts.

    ``loaded`` says what became of each object of *load*.

    - *host*: address to listen at
    - *port*: 0 takes a free one
    - *data_dir*: where objects, token and certificates are kept; None keeps nothing
    - *kubeconfig*: where the kubeconfig is written, readable by its owner only; None is a
      temporary file
    - *tls*: False serves plain HTTP and needs no extra package; on a loopback address, clients
      then need no token
    - *load*: files, folders and objects to begin with
    - *token*: what clients must send; empty makes one
    - *play*: which controllers run beside the server: a ``reflet.play.Play``; None is none
    - *state*: storage, faults and requests of the server
    - *kubeconfig_path*: where the kubeconfig was written
    """

    state: State
    port: int
    token: str
    kubeconfig_path: Path

    def __init__(
        self,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        data_dir: Path | None = None,
        kubeconfig: Path | None = None,
        tls: bool = True,
        load: Iterable[Source] = (),
        token: str = "",
        play: Companion | None = None,
    ) -> None:
        self._host = host
        self._wanted_port = port
        self._data_dir = data_dir
        self._wanted_kubeconfig = kubeconfig
        self._tls = tls
        self._load = tuple(load)
        self._wanted_token = token
        self._play = play
        self._certificate: ServingCertificate | None = None
        self._closing = AsyncExitStack()
        self._listener: asyncio.Server | None = None
        self._tls_connections: set[asyncio.Transport] = set()
        self._pause: asyncio.Task[None] | None = None
        self.loaded: tuple[str, ...] = ()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            documents = loading.read_manifests(self._load)
            storage = self._open_storage(undo)
            self._read_secrets()
            self._read_certificate()
            issuer = TokenIssuer(self._secret)
            self.state = State(storage, tokens=issuer, companion=self._play or NOBODY)
            undo.callback(self.state.watchers.close)
            caller = WebhookClient(storage)
            undo.push_async_callback(caller.close)
            self.state.admission = Webhooks(
                storage, self.state.kinds, caller, new_uid=self.state.new_uid
            )
            self._authenticator = Authenticator(
                self.token, issuer, now=utc_now, needs_token=self.needs_token
            )
            self._application = Application(
                self.state,
                self._authenticator,
                restart=self._begin_pause,
                address=lambda: self.url.partition("://")[2],
            )
            self._web = TacitServer(
                self._application.handle,
                handler_cancellation=True,
                access_log=None,
                auto_decompress=False,
                max_line_size=LONGEST_LINE,
                max_field_size=LONGEST_LINE,
            )
            undo.push_async_callback(self._stop_serving)
            self._context = None if self._certificate is None else self._certificate.context()
            self.port = self._wanted_port
            await self._listen()
            loading.plant(self.state, self.port)
            self.loaded = tuple(loading.load(self.state, documents))
            self._write_kubeconfig(undo)
            if self._play is not None:
                await undo.enter_async_context(self._play.beside(self))
            self._closing = undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.aclose()

    # What users need

    @property
    def url(self) -> str:
        """Where the server is reached."""
        host = LOOPBACK if self._host in EVERYWHERE else self._host
        host = f"[{host}]" if ":" in host else host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def needs_token(self) -> bool:
        """Whether clients must show a token.

        Clients keep theirs to themselves over plain HTTP, so there none is needed, as long as
        only programs on this machine can reach the server.
        """
        return self._tls or not is_loopback(self._host)

    @property
    def ca_data(self) -> bytes:
        """The certificate of the server's authority in PEM form; empty without TLS."""
        return b"" if self._certificate is None else self._certificate.authority

    @property
    def faults(self) -> Faults:
        """What goes wrong on request."""
        return self._application.faults

    @property
    def requests(self) -> RequestLog:
        """The requests that came."""
        return self._application.requests

    @property
    def log_source(self) -> LogSource | None:
        """Where logs of containers are read; with None there are none.

        - *source*: what reads logs; None is nothing
        """
        return self.state.log_source

    @log_source.setter
    def log_source(self, source: LogSource | None) -> None:
        self.state.log_source = source

    def kubeconfig(self) -> dict[str, Any]:
        """Give the kubeconfig that lets its reader do everything here."""
        cluster: dict[str, Any] = {"server": self.url}
        if self.ca_data:
            cluster["certificate-authority-data"] = base64.b64encode(self.ca_data).decode()
        context = {"cluster": CONTEXT, "user": CONTEXT, "namespace": "default"}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": CONTEXT, "cluster": cluster}],
            "users": [{"name": CONTEXT, "user": {"token": self.token}}],
            "contexts": [{"name": CONTEXT, "context": context}],
            "current-context": CONTEXT,
        }

    async def restart(self, seconds: float = 0.0) -> None:
        """Break all connections, listen to nobody for a while, then go on with the same state.

        - *seconds*: for how long nobody is served
        """
        self._begin_pause(seconds)
        if self._pause is not None:
            await asyncio.shield(self._pause)

    def snapshot(self) -> StorageSnapshot:
        """Remember all objects as they are now, for ``restore``."""
        return self.state.storage.snapshot()

    def restore(self, snapshot: StorageSnapshot) -> None:
        """Put all objects back to what they were: what came goes, the rest is as before.

        Only the difference is written, so it takes milliseconds.  Versions go on upwards and
        watches see ordinary events, as if somebody had undone everything by hand.  Tokens, faults
        and the record of requests are no objects, and stay as they are.
        """
        self.state.restore(snapshot)

    async def start_over(self, snapshot: StorageSnapshot) -> None:
        """Become a server that nobody knows yet, with the objects of a snapshot.

        Connections, faults and the record of requests are gone.  The port and the token are new
        unless they were asked for, so that nobody who is left from before comes back.
        """
        await self._stop_pause()
        await self._close_listener()
        self.disconnect()
        self.state.restore(snapshot)
        self.faults.start_over()
        self.requests.clear()
        self.log_source = None
        self._read_secrets()
        self._authenticator.token = self.token
        self.state.tokens.secret = self._secret
        self.port = self._wanted_port
        await self._listen()
        self._save_kubeconfig()

    def disconnect(self) -> None:
        """Break all connections; clients may connect again."""
        for connection in self._web.connections:
            if connection.transport is not None:
                connection.transport.abort()
        for transport in tuple(self._tls_connections):
            transport.abort()

    # Starting

    def _open_storage(self, undo: AsyncExitStack) -> Storage:
        if self._data_dir is None:
            return Storage()
        try:
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"cannot make the data folder {self._data_dir}: {error.strerror}"
            ) from error
        return Storage(undo.enter_context(SqliteJournal(self._data_dir)))

    def _read_secrets(self) -> None:
        self.token = self._wanted_token or self._kept(TOKEN_FILE)
        self._secret = self._kept(SECRET_FILE).encode()

    def _read_certificate(self) -> None:
        if self._tls:
            hosts = [LOOPBACK, "::1", "localhost", "kubernetes.default.svc"]
            if self._host not in EVERYWHERE:
                hosts.append(self._host)
            self._certificate = serving_certificate(hosts, self._data_dir)

    def _kept(self, name: str) -> str:
        """Give a secret of the data folder, which gets one if it has none."""
        if self._data_dir is None:
            return secrets.token_urlsafe(32)
        path = self._data_dir / name
        try:
            if path.exists():
                return path.read_text().strip()
            made = secrets.token_urlsafe(32)
            write_private(path, f"{made}\n".encode())
        except OSError as error:
            raise ConfigurationError(f"cannot use {path}: {error.strerror}") from error
        return made

    def _write_kubeconfig(self, undo: AsyncExitStack) -> None:
        if self._wanted_kubeconfig is not None:
            self.kubeconfig_path = self._wanted_kubeconfig.absolute()
        elif self._data_dir is not None:
            self.kubeconfig_path = (self._data_dir / "kubeconfig").absolute()
        else:
            folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="reflet-serve-"))
            self.kubeconfig_path = Path(folder, "kubeconfig")
        self._save_kubeconfig()

    def _save_kubeconfig(self) -> None:
        # JSON is YAML, and every client reads it.
        content = json.dumps(self.kubeconfig(), indent=2).encode() + b"\n"
        try:
            write_private(self.kubeconfig_path, content)
        except OSError as error:
            raise ConfigurationError(
                f"cannot write the kubeconfig {self.kubeconfig_path}: {error.strerror}"
            ) from error

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        connection: Callable[[], asyncio.BaseProtocol] = self._web
        if self._context is not None:
            connection = tls_factory(self._web, self._context, self._tls_connections)
        try:
            self._listener = await loop.create_server(
                connection,
                self._host,
                self.port,
                backlog=WAITING_CONNECTIONS,
                reuse_address=True,
            )
        except OSError as error:
            # asyncio puts a sentence of its own around the system's.
            number = error.errno or 0  # negative when a name could not be looked up
            reason = os.strerror(number) if number > 0 else error.strerror or str(error)
            raise ConfigurationError(
                f"cannot listen on {self._host} port {self.port}: {reason}"
            ) from error
        self.port = self._listener.sockets[0].getsockname()[1]

    # Stopping

    def _begin_pause(self, seconds: float) -> None:
        if self._pause is None or self._pause.done():
            self._pause = asyncio.get_running_loop().create_task(
                self._pause_listening(seconds), name="restart of the development server"
            )

    async def _pause_listening(self, seconds: float) -> None:
        await self._close_listener()
        self.disconnect()
        await asyncio.sleep(seconds)
        try:
            await self._listen()
        except ConfigurationError:
            # Nobody waits for this task: the loss of the port must not go unnoticed.
            logger.exception("the development server could not go on after its restart")

    async def _close_listener(self) -> None:
        """Take no more connections, and return when those that were taken are known."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        loop = asyncio.get_running_loop()
        for listening in listener.sockets:
            loop.remove_reader(listening)
        # asyncio forgets to close what a listener took in the moment in which it is closed.
        for _ in range(STEPS_OF_A_CONNECTION):
            await asyncio.sleep(0)
        listener.close()

    async def _stop_pause(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            await asyncio.gather(self._pause, return_exceptions=True)

    async def _stop_serving(self) -> None:
        await self._stop_pause()
        await self._close_listener()
        self.state.watchers.close()
        await self._web.shutdown(STOP_TIMEOUT)
        for transport in tuple(self._tls_connections):
            transport.abort()
        await asyncio.sleep(0)
