import base64
import json
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import Pem
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from reflet.transport.config.settings import ConnectionSettings
from tests.unit.transport.pem_material import make_pair, server_context

KUBECTL = shutil.which("kubectl")
V1 = "client.authentication.k8s.io/v1"
PAIR = make_pair("localhost", host="localhost")
PROBE = "/probe"
CERTIFICATE = base64.b64encode(PAIR.certificate).decode()
KEY = base64.b64encode(PAIR.key).decode()


def write_config(folder: Path, user: str, server: str = "https://api:6443") -> Path:
    """A kubeconfig for one *user*, written in YAML's flow style; $C and $K are a real pair."""
    user = user.replace("$C", CERTIFICATE).replace("$K", KEY)
    path = folder / "config"
    path.write_text(
        f"""
current-context: it
clusters:
- name: it
  cluster:
    server: {server}
    insecure-skip-tls-verify: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {{audience: a, none: null, true: 1}}
users: [{{name: me, user: {user}}}]
contexts: [{{name: it, context: {{cluster: it, user: me}}}}]
"""
    )
    return path


def resolve(path: Path, *, token: str = "") -> ConnectionSettings:
    return resolve_settings(
        Overrides(kubeconfig=str(path), token=token),
        {"PATH": os.environ["PATH"]},
        path.parent,
        root=path.parent,
        now=lambda: datetime.now(UTC),
    )


@contextmanager
def api_server(folder: Path, *, tls: bool) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that notes the headers of every request; its address and the notes."""
    notes: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pairs: dict[str, str] = {}
            for name, value in self.headers.items():
                key = name.lower()
                pairs[key] = f"{pairs[key]}, {value}" if key in pairs else value
            peer = self.connection.getpeercert(True) if tls else None
            pairs["client-certificate"] = "yes" if peer else "no"
            if self.path == PROBE:
                notes.append(pairs)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    server.daemon_threads = False
    if tls:
        context = server_context(PAIR, folder)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=PAIR.certificate.decode())
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://localhost:{server.server_port}", notes
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def probe(path: Path) -> str:
    """Let kubectl ask the server of *path*; what it complained about."""
    assert KUBECTL is not None
    command = [KUBECTL, "get", "--raw", PROBE, "--kubeconfig", str(path)]
    environ = {"PATH": os.environ["PATH"], "HOME": str(path.parent)}
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    return done.stderr.decode()


def asked(folder: Path) -> object:
    """What the plugin was told last; None when it did not run.  Forgotten by asking."""
    file = folder / "asked"
    if not file.exists():
        return None
    told: object = json.loads(file.read_text())
    file.unlink()
    return told


PLUGIN = (
    f"exec: {{command: ./plugin, apiVersion: {V1}, interactiveMode: Never, "
    "provideClusterInfo: true}"
)
USERS = {
    "token": "{token: t}",
    "token and certificate": "{token: t, client-certificate-data: $C, client-key-data: $K}",
    "token file before token": "{token: t, tokenFile: token}",
    "password": "{username: me, password: 'pä:ss'}",
    "plugin": f"{{{PLUGIN}}}",
    "token before plugin": f"{{token: t, {PLUGIN}}}",
    "password before plugin": f"{{username: u, password: p, {PLUGIN}}}",
    "certificate before plugin": f"{{client-certificate-data: $C, client-key-data: $K, {PLUGIN}}}",
    "impersonation": (
        "{token: t, as: bob, as-uid: '7', as-groups: [dev, 'a b'], "
        "as-user-extra: {'acme.io/Scope': [one, two]}}"
    ),
}


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
@pytest.mark.parametrize("tls", [True, False], ids=["https", "http"])
@pytest.mark.parametrize("user", USERS.values(), ids=USERS.keys())
async def test_a_user_says_what_kubectl_says_for_it(user: str, tls: bool, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    plugin = tmp_path / "plugin"
    reply = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "px"}})
    plugin.write_text(
        f"#!/bin/sh\nprintf %s \"$KUBERNETES_EXEC_INFO\" >{tmp_path}/asked\necho '{reply}'\n"
    )
    plugin.chmod(0o755)
    with api_server(tmp_path, tls=tls) as (address, notes):
        path = write_config(tmp_path, user, address)
        assert probe(path) == ""
    theirs_asked = asked(tmp_path)

    settings = resolve(path)
    ours = dict(await settings.credentials.headers())
    for name, value in settings.impersonation.headers() if settings.impersonation else ():
        ours[name] = f"{ours[name]}, {value}" if name in ours else value
    ours["client-certificate"] = "yes" if settings.client_certificate else "no"

    (note,) = notes
    theirs = {
        name: value
        for name, value in note.items()
        if name.startswith(("authorization", "impersonate-", "client-certificate"))
    }
    assert ours == theirs
    assert asked(tmp_path) == theirs_asked


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
@pytest.mark.parametrize(
    "user",
    [
        "{token: t, username: u, password: p}",
        "{client-certificate-data: $C}",
        "{client-certificate-data: $C, client-certificate: f, client-key-data: $K}",
        "{client-certificate-data: $C, client-key-data: $K, client-key: f}",
        f"{{exec: {{command: x, apiVersion: {V1}}}}}",
        f"{{exec: {{command: x, apiVersion: {V1}, interactiveMode: Sometimes}}}}",
        f"{{exec: {{apiVersion: {V1}, interactiveMode: Never}}}}",
        "{exec: {command: x, interactiveMode: Never}}",
        f"{{exec: {{command: x, apiVersion: {V1}alpha1}}}}",
        f"{{exec: {{command: x, apiVersion: {V1}beta1, env: [{{value: x}}]}}}}",
        "{as-uid: '7'}",
        "{as-groups: [dev]}",
        "{as-user-extra: {a: [b]}}",
    ],
)
def test_a_user_that_kubectl_refuses_is_refused(user: str, tmp_path: Path) -> None:
    with api_server(tmp_path, tls=True) as (address, notes):
        path = write_config(tmp_path, user, address)
        assert probe(path) != ""

    assert notes == []
    with pytest.raises(
        ConfigurationError, match=r'of user "me" in |^user "me" in |as of user "me"'
    ):
        resolve(path)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        (
            "{auth-provider: {name: gcp, config: {a: b}}}",
            ('auth-provider of user "me" in FILE: "gcp" is not supported: auth-provider was '
            "removed from Kubernetes, use an exec plugin or a token"),
        ),
        ("{token: 'a\nb'}", 'token of user "me" in FILE is not a token: it cannot be sent'),
        (
            "{tokenFile: f, username: u}",
            'user "me" in FILE has a token and a user name or password: keep one',
        ),
        (
            "{client-certificate: c.crt}",
            ('client-certificate of user "me" in FILE has no key: '
            "set client-key or client-key-data"),
        ),
        (
            f"{{exec: {{command: x, apiVersion: {V1}}}}}",
            ('exec of user "me" in FILE: interactiveMode is missing, '
            "not one of Never, IfAvailable, Always"),
        ),
        (
            "{as-groups: [dev]}",
            ("impersonating a uid, group or extra needs a user as well: "
            'set as of user "me" in FILE'),
        ),
    ],
)  # fmt: skip
def test_a_user_that_is_wrong_is_told_with_the_field(user: str, words: str, tmp_path: Path) -> None:
    path = write_config(tmp_path, user)

    with pytest.raises(ConfigurationError) as caught:
        resolve(path)

    assert str(caught.value) == words.replace("FILE", str(path))


@pytest.mark.parametrize("user", ["{}", "{client-key-data: $K}"])
async def test_a_user_without_proof_says_nothing_and_is_not_asked_for_a_password(
    user: str, tmp_path: Path
) -> None:
    # kubectl asks on the terminal here; a library must not.
    settings = resolve(write_config(tmp_path, user))

    assert await settings.credentials.headers() == {}
    assert settings.client_certificate is None


def test_an_auth_provider_does_not_matter_beside_a_token_flag(tmp_path: Path) -> None:
    path = write_config(tmp_path, "{auth-provider: {name: gcp}}")

    assert "StaticToken" in repr(resolve(path, token="typed"))


def test_certificates_are_named_and_found_beside_the_file(tmp_path: Path) -> None:
    path = write_config(tmp_path, "{client-certificate: c.crt, client-key-data: $K}")

    pair = resolve(path).client_certificate

    assert pair is not None
    assert pair.certificate == Pem(
        f'client-certificate of user "me" in {path}', path=tmp_path / "c.crt"
    )
    assert pair.key == Pem(f'client-key-data of user "me" in {path}', data=PAIR.key)


def test_a_plugin_beside_the_file_is_called_there_and_a_bare_one_is_looked_up(
    tmp_path: Path,
) -> None:
    beside = write_config(tmp_path, f"{{exec: {{command: bin/p, apiVersion: {V1}beta1}}}}")
    in_folder = repr(resolve(beside).credentials)
    bare = write_config(tmp_path, f"{{exec: {{command: p, apiVersion: {V1}beta1}}}}")

    assert f"command='{tmp_path}/bin/p'" in in_folder
    assert "command='p'" in repr(resolve(bare).credentials)
