"""Credentials from another program: ``client.authentication.k8s.io`` exec credential plugins.

Runs the plugin, tells it what it may know, reads its answer, and knows for how long that is good.
Neither a token nor a key is ever part of a message, a repr, a log or an argument list; the
plugin's standard error is the user's own.

Upstream: client-go/plugin/pkg/client/auth/exec/exec.go, Authenticator
"""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Annotated, Final

import msgspec

from reflet.errors import ConfigurationError, CredentialsError
from reflet.runtime.clock import SystemClock
from reflet.transport.auth.certificates import ClientCertificate, Pem, present
from reflet.transport.auth.credentials import NO_HEADERS, bearer, is_sendable

SYSTEM_CLOCK: Final = SystemClock()

GROUP: Final = "client.authentication.k8s.io"
API_VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
LARGEST_OUTPUT: Final = 1024 * 1024  # bytes; a certificate chain with its key is some 10 KiB
# kubectl waits for ever: somebody watches it and presses Ctrl-C.  A node agent or a sidecar has
# nobody, and a plugin that hangs on its own network would silently stop every request with it.
DEFAULT_TIME_LIMIT: Final = 60.0


class InteractiveMode(Enum):
    """What a plugin does with standard input."""

    NEVER = "Never"
    IF_AVAILABLE = "IfAvailable"
    ALWAYS = "Always"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecPlugin:
    """How to call a plugin.

    - *setting*: names it in errors: ``user "x" in FILE``
    - *command*: the program, or a path to it
    - *args*: its arguments
    - *env*: names and values that are added to the environment
    - *api_version*: version of ``client.authentication.k8s.io`` that it speaks
    - *install_hint*: shown when the program is not there
    - *interactive_mode*: whether it may, or must, use the terminal
    """

    setting: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    api_version: str = API_VERSIONS[0]
    install_hint: str = ""
    interactive_mode: InteractiveMode = InteractiveMode.IF_AVAILABLE

    def __post_init__(self) -> None:
        if not self.command:
            raise ConfigurationError(f"exec of {self.setting}: command is missing")
        if self.api_version not in API_VERSIONS:
            got = self.api_version or "missing"
            hint = ": update the plugin and this field" if got.endswith("/v1alpha1") else ""
            raise ConfigurationError(
                f"exec of {self.setting}: apiVersion is {got}, not one of "
                f"{', '.join(API_VERSIONS)}{hint}"
            )
        if not all(name and "=" not in name for name, _ in self.env):
            raise ConfigurationError(
                f"exec of {self.setting}: env has a variable without a name, or with = in it"
            )
        if "\0" in "".join(
            (self.command, *self.args, *(text for pair in self.env for text in pair))
        ):
            raise ConfigurationError(f"exec of {self.setting}: no text in it may hold a zero byte")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInfo:
    """What a plugin is told about the server; ``config`` is JSON, meant for the plugin."""

    server: str
    tls_server_name: str = ""
    insecure: bool = False
    certificate_authority: Pem | None = None
    proxy_url: str = field(default="", repr=False)
    disable_compression: bool = False
    config: bytes = field(default=b"null", repr=False)


class _Cluster(msgspec.Struct, rename="kebab", omit_defaults=True):
    server: str
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    config: msgspec.Raw = msgspec.Raw(b"")


class _Spec(msgspec.Struct, omit_defaults=True):
    interactive: bool
    cluster: _Cluster | None = None


class _Question(msgspec.Struct, rename="camel"):
    kind: str
    api_version: str
    spec: _Spec


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None


class _Answer(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


@dataclass(frozen=True, slots=True, repr=False)
class _Issued:
    headers: Mapping[str, str]
    client_certificate: ClientCertificate | None
    expires: datetime | None


class ExecCredentials:
    """What a plugin says, kept until it expires or the server refuses it.

    One process runs at a time, and callers that ask meanwhile share its answer; a failure is not
    kept.  A caller that is cancelled takes its process along.  *time_limit* does not hold for a
    plugin that has the terminal: somebody may be typing.

    - *plugin*: command, arguments and environment, as in a kubeconfig
    - *environ*: the environment of this process
    - *cluster*: what the plugin learns about the cluster; None is nothing
    - *now*: source of the wall time
    - *stdin_is_terminal*: whether the plugin may ask a person
    """

    def __init__(
        self,
        plugin: ExecPlugin,
        *,
        environ: Mapping[str, str],
        cluster: ClusterInfo | None = None,
        now: Callable[[], datetime] = SYSTEM_CLOCK.now,
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        stdin_is_terminal: Callable[[], bool] = lambda: os.isatty(0),
    ) -> None:
        self._plugin = plugin
        self._environ = environ
        self._cluster = cluster
        self._now = now
        self._time_limit = time_limit
        self._stdin_is_terminal = stdin_is_terminal
        self._issued: _Issued | None = None
        self._turn = asyncio.Lock()

    def __repr__(self) -> str:
        return f"ExecCredentials({self._plugin!r})"

    async def headers(self) -> Mapping[str, str]:
        """The plugin's token, or nothing when it answers with a certificate only."""
        return (await self._current()).headers

    async def client_certificate(self) -> ClientCertificate | None:
        """The plugin's certificate and key, if it has any."""
        return (await self._current()).client_certificate

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
        """Forget the answer that was refused; the next question runs the plugin again."""
        if self._issued is not None and (sent is None or dict(sent) == dict(self._issued.headers)):
            self._issued = None
        return True

    async def _current(self) -> _Issued:
        if (issued := self._good()) is not None:
            return issued
        async with self._turn:
            if (issued := self._good()) is None:
                issued = self._issued = self._understood(await self._run())
            return issued

    def _good(self) -> _Issued | None:
        issued = self._issued
        if issued is None or (issued.expires is not None and issued.expires < self._now()):
            return None
        return issued

    async def _run(self) -> bytes:
        interactive = self._interactive()
        executable = self._executable()
        environment = {
            **self._environ,
            **dict(self._plugin.env),
            "KUBERNETES_EXEC_INFO": self._question(interactive=interactive),
        }
        limit = None if interactive else self._time_limit
        try:
            async with asyncio.timeout(limit):
                code, output = await run_plugin(
                    (executable, *self._plugin.args), environment, interactive=interactive
                )
        except TimeoutError as error:
            raise self._failure(f"did not answer within {limit:g} s and was stopped") from error
        except OSError as error:
            raise self._failure(f"cannot be run: {(error.strerror or 'failed').lower()}") from error
        if len(output) > LARGEST_OUTPUT:
            raise self._failure(f"wrote more than {LARGEST_OUTPUT} bytes and was stopped")
        if code < 0:
            raise self._failure(f"was ended by signal {-code}")
        if code > 0:
            raise self._failure(f"failed with exit code {code}: its own message, if any, is above")
        return output

    def _interactive(self) -> bool:
        match self._plugin.interactive_mode:
            case InteractiveMode.NEVER:
                return False
            case InteractiveMode.IF_AVAILABLE:
                return self._stdin_is_terminal()
            case InteractiveMode.ALWAYS:
                if not self._stdin_is_terminal():
                    raise self._failure(
                        "needs a terminal (interactiveMode is Always), and standard input is none"
                    )
                return True

    def _executable(self) -> str:
        import shutil  # noqa: PLC0415 - lazily: it brings every compression module along

        command = self._plugin.command
        # Only whole paths: a plugin of that name in the folder where one happens to be is not
        # the one that was meant.
        directories = self._environ.get("PATH", os.defpath).split(os.pathsep)
        path = os.pathsep.join(entry for entry in directories if entry.startswith("/"))
        if found := shutil.which(command, path=path):
            return found
        if os.sep in command and os.path.exists(command):  # noqa: PTH110 - a command, not yet a path
            raise self._failure("is not an executable file: check it, or chmod +x it")
        where = "does not exist" if os.sep in command else "is not in PATH"
        hint = " ".join(self._plugin.install_hint.split())
        hint = "".join(character if character.isprintable() else "?" for character in hint)
        raise self._failure(f"{where}: {hint or 'install it'}")

    def _question(self, *, interactive: bool) -> str:
        question = _Question(
            kind="ExecCredential",
            api_version=self._plugin.api_version,
            spec=_Spec(interactive=interactive, cluster=_described(self._cluster)),
        )
        return msgspec.json.encode(question).decode()

    def _understood(self, output: bytes) -> _Issued:
        try:
            answer = msgspec.json.decode(output, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # msgspec's words name the place and the type, never the value.
            raise self._failure(f"did not write an ExecCredential: {error}") from error
        except RecursionError as error:
            raise self._failure("did not write an ExecCredential: nested without end") from error
        if answer.kind != "ExecCredential" or answer.api_version != self._plugin.api_version:
            raise self._failure(
                f"wrote {_shown(answer.kind)} of {_shown(answer.api_version)}, "
                f"not ExecCredential of {self._plugin.api_version}"
            )
        status = answer.status or _Status()
        certificate, key = status.client_certificate_data, status.client_key_data
        if not status.token and not certificate and not key:
            raise self._failure("gave neither status.token nor a client certificate")
        if bool(certificate) != bool(key):
            given, missing = ("clientCertificateData", "clientKeyData")[:: 1 if certificate else -1]
            raise self._failure(f"gave status.{given} without {missing}")
        if status.token and not is_sendable(status.token):
            raise self._failure("gave a token that cannot stand in a header")
        return _Issued(
            headers=bearer(status.token) if status.token else NO_HEADERS,
            client_certificate=self._checked(certificate, key) if certificate and key else None,
            expires=status.expiration_timestamp,
        )

    def _checked(self, certificate: str, key: str) -> ClientCertificate:
        import ssl  # noqa: PLC0415 - lazily: few plugins answer with certificates

        pair = ClientCertificate(
            Pem("clientCertificateData", data=certificate.encode()),
            Pem("clientKeyData", data=key.encode()),
        )
        try:
            present(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), pair, now=self._now)
        except ConfigurationError as error:
            raise self._failure(f"gave a bad certificate: {error}") from error
        return pair

    def _failure(self, words: str) -> CredentialsError:
        return CredentialsError(
            f"exec plugin {self._plugin.command} of {self._plugin.setting}: {words}"
        )


def _described(cluster: ClusterInfo | None) -> _Cluster | None:
    if cluster is None:
        return None
    authority = cluster.certificate_authority
    return _Cluster(
        server=cluster.server,
        tls_server_name=cluster.tls_server_name,
        insecure_skip_tls_verify=cluster.insecure,
        certificate_authority_data=base64.b64encode(
            authority.read() if authority else b""
        ).decode(),
        proxy_url=cluster.proxy_url,
        disable_compression=cluster.disable_compression,
        config=msgspec.Raw(cluster.config),
    )


def _shown(text: str) -> str:
    """*text* from the plugin, where a short name is expected; anything else might be a secret."""
    return text if len(text) <= 60 and text.isprintable() and text else "something"


async def run_plugin(
    command: tuple[str, ...], environment: Mapping[str, str], *, interactive: bool
) -> tuple[int, bytes]:
    """Run *command* to its end: its exit code and its output, cut a little past the limit.

    The process is gone when this returns or raises, cancelled or not.
    """
    read_end, write_end = os.pipe()
    # Our own pipe, not asyncio's: there, waiting for a killed process also waits for every
    # child of it that still holds the pipe.
    with os.fdopen(read_end, "rb", buffering=0) as pipe:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=write_end,
                # Plugins are often shell scripts around other programs: a session of its own
                # lets us end all of them.  With the terminal it must stay in ours.
                start_new_session=not interactive,
            )
        finally:
            os.close(write_end)
        try:
            loop = asyncio.get_running_loop()
            reader = asyncio.StreamReader()
            transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), pipe
            )
            try:
                output = await _limited(reader)
            finally:
                transport.close()
            if len(output) > LARGEST_OUTPUT:
                _kill(process, whole_session=not interactive)
            return await process.wait(), output
        finally:
            if process.returncode is None:
                _kill(process, whole_session=not interactive)
                await process.wait()


async def _limited(reader: asyncio.StreamReader) -> bytes:
    output = bytearray()
    while len(output) <= LARGEST_OUTPUT and (chunk := await reader.read(65536)):
        output += chunk
    return bytes(output)


def _kill(process: asyncio.subprocess.Process, *, whole_session: bool) -> None:
    try:
        # Windows has neither.
        if whole_session and hasattr(os, "killpg") and hasattr(signal, "SIGKILL"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass  # it ended by itself in this moment
