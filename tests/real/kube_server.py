"""A real kube-apiserver and its etcd, on loopback ports, for as long as a test run lasts.

Owns: the two processes, how they are configured, their certificates and tokens.  Must not know
pytest (benchmarks use it too), nor the package under test.

::

    with KubeServer() as kube:
        kube.write_kubeconfig(Path("config"))

How a test gets ``410 Gone`` (reason ``Expired``) for a version that a client has seen:

- Events have no watch cache, their history is etcd's.  After :meth:`KubeServer.compact`, an
  older continue token, a list with ``resourceVersionMatch=Exact`` and a watch from an older
  version are refused at once.
- All other kinds are served from the API server's memory, which remembers what etcd forgot:
  compact, then :meth:`KubeServer.restart_apiserver`.
"""

from __future__ import annotations

import base64
import http.client
import json
import secrets
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from tests.patience import Deadline
from tests.real.access_rules import FIRST_GRANT, IDENTITIES, OBJECTS, SERVER, Role, token_file
from tests.real.api_connection import Answer, ApiConnection
from tests.real.binaries import Binaries, find_binaries
from tests.real.certificates import (
    Authority,
    CertificateFiles,
    new_key,
    write_key,
    write_private,
)
from tests.real.process_keeper import ProcessKeeper

HOST: Final = "127.0.0.1"
SERVED_NAMES: Final = ("127.0.0.1", "::1", "localhost", "kubernetes.default.svc")

POLL_INTERVAL = 0.02  # seconds between two looks at a server that is starting
# Seconds from asking a process to end until it is killed.  The API server would wait a minute
# for watches to end by themselves, and has nothing to lose: everything it knows is in etcd.
STOP_PATIENCE = 2.0
LOG_LINES = 30  # of each log, shown when a start fails

# How a server that is starting answers: it does not listen, or listens and hangs up.
NOT_YET: Final = (OSError, http.client.HTTPException)


class KubeServerFailed(Exception):
    """A server did not start; the message ends with the last lines of both logs."""


class KubeServer:
    """An API server with TLS, RBAC and Node authorization, and no controllers.

    Nothing but the API server runs: namespaces get no service account and are never emptied,
    pods are never scheduled, deployments never make pods.  Everything is gone, processes and
    files, after :meth:`stop`, and when the program ends in any other way.

    The attributes are there from :meth:`start` on.  Not for two threads at a time.
    """

    folder: Path
    port: int
    url: str
    ca_file: Path
    ca_data: bytes
    client_ca_file: Path
    serving: CertificateFiles
    tokens: Mapping[Role, str]
    admin_certificate: CertificateFiles

    def __init__(
        self,
        binaries: Binaries | None = None,
        *,
        api_server_flags: Sequence[str] = (),
        patience: float = 60.0,
    ) -> None:
        self._binaries = binaries
        self._api_server_flags = tuple(api_server_flags)
        self._patience = patience
        self._closing = ExitStack()
        self._running: dict[str, int] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # Life

    def start(self) -> None:
        """Start both processes and return when every identity can do what it may."""
        if self._running:
            raise RuntimeError("the server runs already")
        self._programs = self._binaries or find_binaries()
        with ExitStack() as undo:
            self._keeper = undo.enter_context(ProcessKeeper(prefix="reflet-kube-"))
            self.folder = self._keeper.folder
            self.port, self._etcd_port, self._peer_port = (
                undo.enter_context(closing(reserved)).getsockname()[1]
                for reserved in (reserve_port(), reserve_port(), reserve_port())
            )
            self.url = f"https://{HOST}:{self.port}"
            self._write_credentials()
            undo.callback(self._stop_process, "etcd")
            self._start_process("etcd", self._etcd_command())
            self._wait_until("etcd answers", self._etcd_is_healthy)
            undo.callback(self.stop_apiserver)
            self.start_apiserver()
            self._grant_rights()
            self._closing = undo.pop_all()

    def stop(self) -> None:
        """Stop both processes and remove every file; harmless when nothing runs."""
        self._closing.close()

    def start_apiserver(self) -> None:
        """Start the API server, at the same address as before, and wait until it is ready."""
        self._start_process("kube-apiserver", self._apiserver_command())
        self._wait_until("the API server is ready", self._apiserver_is_ready)

    def stop_apiserver(self, *, patience: float = STOP_PATIENCE) -> None:
        """Stop the API server; its address refuses connections until it is started again.

        It is killed after ``patience`` seconds, so zero is a crash.
        """
        self._stop_process("kube-apiserver", patience=patience)

    def restart_apiserver(self, *, patience: float = STOP_PATIENCE) -> None:
        """Stop and start the API server: connections break, and its memory begins anew."""
        with self.outage(patience=patience):
            pass

    @contextmanager
    def outage(self, *, patience: float = STOP_PATIENCE) -> Iterator[None]:
        """Be without the API server for the length of a ``with`` block."""
        self.stop_apiserver(patience=patience)
        try:
            yield
        finally:
            self.start_apiserver()

    def compact(self) -> int:
        """Make etcd forget everything before now, and return the oldest version it still has.

        The head of this module says which requests notice it.
        """
        # Compacted at a version, etcd can still list at it and watch from the one before.  Two
        # writes of our own put all versions that anybody has seen out of reach.
        key = base64.b64encode(b"reflet/compacted").decode()
        self._ask_etcd("/v3/kv/put", {"key": key})
        written = self._ask_etcd("/v3/kv/put", {"key": key})
        revision = int(written["header"]["revision"])
        self._ask_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        return revision

    # Access

    def connect(
        self,
        role: Role | None = "admin",
        *,
        token: str = "",
        certificate: CertificateFiles | None = None,
        timeout: float = 10.0,
    ) -> ApiConnection:
        """Open a connection as a role; or, with ``role=None``, by token, certificate or nobody."""
        tls = ssl.create_default_context(cafile=str(self.ca_file))
        if certificate is not None:
            tls.load_cert_chain(certificate.certificate_file, certificate.key_file)
        if role is not None:
            token = self.tokens[role]
        return ApiConnection(HOST, self.port, tls=tls, token=token, timeout=timeout)

    def request(
        self, method: str, path: str, body: object = None, *, role: Role = "admin"
    ) -> Answer:
        """Send one request on its own connection."""
        with self.connect(role) as connection:
            return connection.request(method, path, body)

    def client_certificate(
        self, user: str, groups: Sequence[str] = (), *, valid_for: timedelta = timedelta(days=1)
    ) -> CertificateFiles:
        """Make a client certificate; a negative ``valid_for`` makes one that has expired."""
        stem = f"client-{secrets.token_hex(4)}"
        files = CertificateFiles(self.folder / f"{stem}.crt", self.folder / f"{stem}.key")
        self._client_authority.issue_client(files, user=user, groups=groups, valid_for=valid_for)
        return files

    def node_certificate(self, *hosts: str) -> CertificateFiles:
        """Make a serving certificate for a node, which the server trusts when it asks for logs."""
        stem = f"node-{secrets.token_hex(4)}"
        files = CertificateFiles(self.folder / f"{stem}.crt", self.folder / f"{stem}.key")
        self._node_authority.issue_server(files, hosts=hosts)
        return files

    def kubeconfig(
        self,
        role: Role = "admin",
        *,
        certificate: CertificateFiles | None = None,
        namespace: str = "default",
    ) -> dict[str, Any]:
        """Make a kubeconfig for a role by its token, or for a client certificate instead."""
        user = (
            {"token": self.tokens[role]}
            if certificate is None
            else {
                "client-certificate": str(certificate.certificate_file),
                "client-key": str(certificate.key_file),
            }
        )
        cluster = {
            "server": self.url,
            "certificate-authority-data": base64.b64encode(self.ca_data).decode(),
        }
        context = {"cluster": "real", "user": "user", "namespace": namespace}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": cluster}],
            "users": [{"name": "user", "user": user}],
            "contexts": [{"name": "real", "context": context}],
            "current-context": "real",
        }

    def write_kubeconfig(
        self,
        path: Path,
        role: Role = "admin",
        *,
        certificate: CertificateFiles | None = None,
        namespace: str = "default",
    ) -> Path:
        """Write a kubeconfig that only its owner may read, and return its path."""
        config = self.kubeconfig(role, certificate=certificate, namespace=namespace)
        write_private(path, json.dumps(config, indent=2).encode())  # JSON is YAML
        return path

    @property
    def process_ids(self) -> Mapping[str, int]:
        """The process ids of ``etcd`` and ``kube-apiserver`` while they run, to measure them."""
        return dict(self._running)

    def logs(self) -> str:
        """Return the last lines of both logs."""
        tails = []
        for log in sorted(self.folder.glob("*.log")):
            lines = log.read_text(errors="replace").splitlines()
            tails.append("\n".join([f"--- {log.name}", *lines[-LOG_LINES:]]))
        return "\n".join(tails)

    # Set-up

    def _write_credentials(self) -> None:
        server_authority = Authority("reflet test server authority")
        self.ca_data = server_authority.pem
        self.ca_file = self.folder / "server-ca.crt"
        self.ca_file.write_bytes(self.ca_data)
        self.serving = CertificateFiles(self.folder / "serving.crt", self.folder / "serving.key")
        server_authority.issue_server(self.serving, hosts=SERVED_NAMES)

        # Its own authority: a client that takes one for the other must not get away with it.
        self._client_authority = Authority("reflet test client authority")
        self.client_ca_file = self.folder / "client-ca.crt"
        self.client_ca_file.write_bytes(self._client_authority.pem)
        admin = IDENTITIES["admin"]
        self.admin_certificate = self.client_certificate(admin.user, admin.groups)

        self._node_authority = Authority("reflet test node authority")
        self._node_ca_file = self.folder / "node-ca.crt"
        self._node_ca_file.write_bytes(self._node_authority.pem)
        self._for_nodes = self.client_certificate(SERVER.user, SERVER.groups)

        self.tokens = MappingProxyType({role: secrets.token_urlsafe(16) for role in IDENTITIES})
        write_private(self.folder / "tokens.csv", token_file(self.tokens).encode())
        write_key(self.folder / "service-accounts.key", new_key())

    def _etcd_command(self) -> list[str]:
        client, peer = (f"http://{HOST}:{port}" for port in (self._etcd_port, self._peer_port))
        return [
            str(self._programs.etcd),
            "--name=etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=etcd={peer}",
            "--socket-reuse-port",  # see reserve_port
            "--unsafe-no-fsync",  # the data need not survive a power cut
            # Its only member elects itself; the default time-out makes it wait a second first.
            "--heartbeat-interval=20",
            "--election-timeout=100",
            "--log-level=warn",
        ]

    def _apiserver_command(self) -> list[str]:
        return [
            str(self._programs.kube_apiserver),
            f"--bind-address={HOST}",
            f"--secure-port={self.port}",
            f"--advertise-address={HOST}",  # or it looks for a network, and there may be none
            "--permit-port-sharing",  # see reserve_port
            f"--etcd-servers=http://{HOST}:{self._etcd_port}",
            "--etcd-compaction-interval=0",  # history is forgotten when a test says so
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--tls-cert-file={self.serving.certificate_file}",
            f"--tls-private-key-file={self.serving.key_file}",
            f"--client-ca-file={self.client_ca_file}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            f"--kubelet-client-certificate={self._for_nodes.certificate_file}",
            f"--kubelet-client-key={self._for_nodes.key_file}",
            f"--kubelet-certificate-authority={self._node_ca_file}",
            "--kubelet-preferred-address-types=InternalIP",  # nobody knows the nodes' names here
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.folder / 'service-accounts.key'}",
            f"--service-account-signing-key-file={self.folder / 'service-accounts.key'}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            # It refuses pods in a namespace without a service account, and the controller that
            # would make one does not run here.
            "--disable-admission-plugins=ServiceAccount",
            "--endpoint-reconciler-type=none",  # nobody looks for the server's own endpoints
            "--profiling=false",
            *self._api_server_flags,
        ]

    def _grant_rights(self) -> None:
        with self.connect() as connection:
            for path, body in OBJECTS:
                connection.create(path, body)
        self._wait_until(
            "the restricted user has its rights",
            lambda: self.request("GET", FIRST_GRANT, role="restricted").code == http.client.OK,
        )

    # Processes

    def _start_process(self, name: str, command: Sequence[str]) -> None:
        if name in self._running:
            raise RuntimeError(f"{name} runs already")
        self._running[name] = self._keeper.run(name, command)

    def _stop_process(self, name: str, *, patience: float = STOP_PATIENCE) -> None:
        if self._running.pop(name, None) is not None:
            self._keeper.stop(name, patience=patience)

    def _wait_until(self, goal: str, reached: Callable[[], bool]) -> None:
        deadline = Deadline(self._patience)
        while not reached():
            for name in self._running:
                code = self._keeper.exit_code(name)
                if code is not None:
                    raise KubeServerFailed(f"{name} ended with {code} before {goal}\n{self.logs()}")
            if deadline.passed:
                raise KubeServerFailed(f"not within {self._patience:g} s: {goal}\n{self.logs()}")
            time.sleep(POLL_INTERVAL)

    def _etcd_is_healthy(self) -> bool:
        try:
            with closing(http.client.HTTPConnection(HOST, self._etcd_port, timeout=2)) as etcd:
                etcd.request("GET", "/health")
                return etcd.getresponse().status == http.client.OK
        except NOT_YET:
            return False

    def _apiserver_is_ready(self) -> bool:
        try:
            return self.request("GET", "/readyz").code == http.client.OK
        except NOT_YET:
            return False

    def _ask_etcd(self, path: str, body: object) -> Any:
        with closing(http.client.HTTPConnection(HOST, self._etcd_port, timeout=10)) as etcd:
            etcd.request("POST", path, json.dumps(body))
            response = etcd.getresponse()
            answer = json.loads(response.read())
            if response.status != http.client.OK:
                raise KubeServerFailed(f"etcd refuses {path}: {answer}")
            return answer


def reserve_port() -> socket.socket:
    """Bind a free loopback port, to hold it while the server that listens there is away.

    The socket does not listen, so connections are refused; and it shares the port, so that the
    server can bind it too.  No other program can take the port in between.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    reserved.bind((HOST, 0))
    return reserved
