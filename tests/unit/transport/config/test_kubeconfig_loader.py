import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.config.kubeconfig_loader import Entry, Kubeconfig, load

KUBECTL = shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")

FIRST = """
current-context: one
clusters:
- name: shared
  cluster: {server: "https://first:6443", certificate-authority: pki/../ca.crt, unknown: [1]}
- name: only-first
  cluster: {server: "https://a", insecure-skip-tls-verify: true, tls-server-name: api}
users:
- name: shared
  user: {token: first, tokenFile: ./token}
contexts:
- name: one
  context: {cluster: shared, user: shared, namespace: shop}
preferences: {colors: true}
"""
SECOND = """
apiVersion: v1
kind: Config
current-context: two
clusters:
- name: shared
  cluster: {server: "https://second:6443", proxy-url: "http://proxy", disable-compression: true}
- name: only-second
  cluster: {server: "https://b", certificate-authority-data: QUFB, proxy-url: "http://p:1"}
users:
- name: shared
  user: {username: never, password: merged}
- name: only-second
  user:
    as: bob
    as-uid: "7"
    as-groups: [dev, ops]
    as-user-extra: {scope: [a, b]}
    client-certificate: ../client.crt
    client-key: /etc/client.key
    exec:
      command: bin/plugin
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [get, token]
      env: [{name: A, value: "1"}]
      provideClusterInfo: true
      installHint: install it
- name: bare-command
  user: {exec: {command: plugin, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}
contexts:
- name: one
  context: {cluster: only-second, user: only-second}
- name: two
  context: {cluster: only-second, user: only-second, namespace: null}
"""  # noqa: E501 - a kubeconfig, not code


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def kubectl_view(paths: list[Path], *options: str, directory: Path) -> dict[str, Any]:
    """What kubectl makes of *paths*.  --flatten=false keeps the files' own relative paths."""
    assert KUBECTL is not None
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "KUBECONFIG": os.pathsep.join(map(str, paths)),
    }
    command = [KUBECTL, "config", "view", "--raw", "-o", "json", *options]
    done = subprocess.run(command, env=environ, capture_output=True, check=False, cwd=directory)
    if done.returncode != 0:
        raise ConfigurationError(done.stderr.decode())
    viewed: dict[str, Any] = json.loads(done.stdout)
    return viewed


def as_kubectl_shows(merged: Kubeconfig) -> dict[str, Any]:
    """*merged* with the fields, and the omissions, of kubectl's JSON."""

    def named(kind: str, entry: Entry[Any], fields: dict[str, Any]) -> dict[str, Any]:
        shown = {name: value for name, value in fields.items() if value}
        return {"name": entry.name, kind: shown}

    return {
        "current-context": merged.current_context,
        "clusters": [
            named(
                "cluster",
                entry,
                {
                    "server": entry.value.server,
                    "certificate-authority": entry.value.certificate_authority,
                    "certificate-authority-data": _base64(entry.value.certificate_authority_data),
                    "insecure-skip-tls-verify": entry.value.insecure_skip_tls_verify,
                    "tls-server-name": entry.value.tls_server_name,
                    "proxy-url": entry.value.proxy_url,
                    "disable-compression": entry.value.disable_compression,
                },
            )
            for _, entry in sorted(merged.clusters.items())
        ],
        "contexts": [
            named(
                "context",
                entry,
                {
                    "cluster": entry.value.cluster,
                    "user": entry.value.user,
                    "namespace": entry.value.namespace,
                },
            )
            for _, entry in sorted(merged.contexts.items())
        ],
        "users": [
            named("user", entry, _user_fields(entry)) for _, entry in sorted(merged.users.items())
        ],
    }


def _user_fields(entry: Entry[Any]) -> dict[str, Any]:
    user = entry.value
    return {
        "token": user.token,
        "tokenFile": user.token_file,
        "username": user.username,
        "password": user.password,
        "client-certificate": user.client_certificate,
        "client-certificate-data": _base64(user.client_certificate_data),
        "client-key": user.client_key,
        "client-key-data": _base64(user.client_key_data),
        "as": user.impersonate,
        "as-uid": user.impersonate_uid,
        "as-groups": list(user.impersonate_groups),
        "as-user-extra": {key: list(values) for key, values in user.impersonate_extra.items()},
        "exec": user.exec
        and {
            "command": user.exec.command,
            "args": list(user.exec.args) or None,
            "env": [{"name": item.name, "value": item.value} for item in user.exec.env] or None,
            "apiVersion": user.exec.api_version,
            "provideClusterInfo": user.exec.provide_cluster_info,
        },
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def comparable(viewed: dict[str, Any]) -> dict[str, Any]:
    """kubectl's view without what it adds itself: defaults, empty servers, nulls for lists."""
    for entry in viewed["users"] or ():
        if "exec" in entry["user"]:
            entry["user"]["exec"].pop("interactiveMode", None)  # a default, applied by us later
            entry["user"]["exec"].pop("installHint", None)
    for entry in viewed["clusters"] or ():
        entry["cluster"] = {name: value for name, value in entry["cluster"].items() if value}
    for entry in viewed["contexts"] or ():
        entry["context"] = {name: value for name, value in entry["context"].items() if value}
    return {
        "current-context": viewed["current-context"],
        **{kind: viewed[kind] or [] for kind in ("clusters", "contexts", "users")},
    }


MERGES = {
    "one file": [FIRST],
    "two files": [FIRST, SECOND],
    "two files the other way round": [SECOND, FIRST],
    "the current context of the second when the first has none": [
        FIRST.replace("current-context: one", ""),
        SECOND,
    ],
    "an empty file before": ["", FIRST],
    "a file of comments": ["# nothing\n", SECOND],
    "only the first document": [FIRST + "\n---\ncurrent-context: other\n"],
    "nulls for absent": ["current-context: null\nclusters: null\nusers: []\n", FIRST],
    "dates and times are texts": ["current-context: 2026-01-02\ncontexts: [{name: 12:30}]"],
    "base64 in lines": ["users: [{name: a, user: {client-key-data: 'YWJj\n\n YWJj'}}]"],
    "JSON": [json.dumps({"current-context": "j\u00e9", "clusters": [{"name": "c"}]})],
    "JSON with tabs": ['{\n\t"current-context":\t"x",\n\t"clusters": []\n}'],
    "keys of another case are other keys": ["Current-Context: x\nclusters: []\n"],
    "a name of its own": ["contexts: [{context: {cluster: c}}]"],
    "a key that is set twice": ["current-context: a\ncurrent-context: b\n"],
    "keys that are not texts": ["1: 2\ntrue: 3\ncurrent-context: x\n"],
    "an entry that only the second completes": [
        "clusters: [{name: c, cluster: {}}]",
        "clusters: [{name: c, cluster: {server: 'https://x'}}]",
    ],
}


@needs_kubectl
@pytest.mark.parametrize("texts", MERGES.values(), ids=MERGES.keys())
def test_files_merge_as_kubectl_merges_them(texts: list[str], tmp_path: Path) -> None:
    paths = [write(tmp_path / f"dir{n}" / "config", text) for n, text in enumerate(texts)]

    assert as_kubectl_shows(load(paths)) == comparable(kubectl_view(paths, directory=tmp_path))


@needs_kubectl
def test_missing_and_repeated_files_merge_as_with_kubectl(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", FIRST), write(tmp_path / "b", SECOND)
    paths = [tmp_path / "absent", second, first, second]

    assert as_kubectl_shows(load(paths)) == comparable(kubectl_view(paths, directory=tmp_path))


@needs_kubectl
@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "kind: Pod\napiVersion: v1",
        "kind: Config\napiVersion: v2",
        "clusters: [{name: 5}]",
        "clusters: [{name: c}, {name: c}]",
        "users: [{name: u}, {name: u}]",
        "contexts: [{name: x}, {name: x}]",
        "clusters: {name: c}",
        "users: [{name: u, user: {client-key-data: '*'}}]",
        "users: [{name: u, user: {client-key-data: YWJ}}]",
        "users: [{name: u, user: {as-groups: dev}}]",
        "current-context: 012",
        "current-context: yes",
        "clusters: [",
        "a: b: c",
    ],
)
def test_what_kubectl_refuses_is_refused(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "config", text)

    with pytest.raises(ConfigurationError):
        kubectl_view([path], directory=tmp_path)
    with pytest.raises(ConfigurationError):
        load([path])


@needs_kubectl
def test_relative_paths_begin_where_kubectl_says(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("authority")
    (tmp_path / "one").mkdir()
    path = write(
        tmp_path / "one" / "config",
        "clusters: [{name: c, cluster: {certificate-authority: pki/../../ca.crt}}]",
    )

    # To flatten, kubectl has to find the file.
    viewed = kubectl_view([path], "--flatten", directory=tmp_path)
    entry = load([path]).clusters["c"]

    assert viewed["clusters"][0]["cluster"]["certificate-authority-data"] == _base64(b"authority")
    assert entry.path(entry.value.certificate_authority) == tmp_path / "ca.crt"


def test_an_entry_knows_its_file_and_its_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "sub" / "config", SECOND)

    user = load([Path("sub/config")]).users["only-second"]

    assert str(user) == 'user "only-second" in sub/config'
    assert user.setting("token") == 'token of user "only-second" in sub/config'
    assert user.path(user.value.client_certificate) == tmp_path / "client.crt"
    assert user.path(user.value.client_key) == Path("/etc/client.key")


def test_extensions_keep_their_nulls_and_have_texts_for_keys(tmp_path: Path) -> None:
    path = write(
        tmp_path / "config",
        "clusters: [{name: c, cluster: {extensions: [{extension: {2: null, true: [null]}}]}}]",
    )

    (extension,) = load([path]).clusters["c"].value.extensions

    assert extension.extension == {"2": None, "true": [None]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clusters:\n- name: [\n", ":3: bad YAML: "),
        ("a: b: c", ":1: bad YAML: mapping values are not allowed in this context"),
        ("a: &x [*y]", ":1: bad YAML: found undefined alias"),
        ("a: !!python/name:os.system x", ":1: bad YAML: could not determine a constructor"),
        ("[]", ": is not a kubeconfig: expected object, got array"),
        ("just text", ": is not a kubeconfig: expected object, got str"),
        (
            "clusters: [{cluster: {server: 5}}]",
            ": clusters[0].cluster.server: expected str, got int",
        ),
        (
            "users: [{user: {as-user-extra: {a: b}}}]",
            ": users[0].user.as-user-extra[...]: expected array, got str",
        ),
        (
            "users: [{}, {user: {exec: {args: [1]}}}]",
            ": users[1].user.exec.args[0]: expected str, got int",
        ),
        (
            "users: [{user: {client-key-data: 'Zm9v*'}}]",
            ": users[0].user.client-key-data: is not valid base64",
        ),
        (
            "users: [{user: {client-key-data: 1}}]",
            ": users[0].user.client-key-data: expected base64 text, got int",
        ),
        ("kind: Pod", ": is kind Pod of v1, not kind Config of v1"),
        ("apiVersion: v2", ": is kind Config of v2, not kind Config of v1"),
        (
            "users: [{name: a}, {name: b}, {name: a}]",
            ': users[2].name: "a" is the name of users[0] already',
        ),
    ],
)
def test_a_file_that_is_wrong_is_named_with_the_place(
    text: str, words: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "config", text)

    with pytest.raises(ConfigurationError) as caught:
        load([path])

    assert str(caught.value).startswith(f"kubeconfig {path}{words}")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(b"a: \xff\xfe")

    with pytest.raises(ConfigurationError, match=f"^kubeconfig {path}: not text in UTF-8$"):
        load([path])


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "a: &a [*a]"])
def test_nesting_without_end_is_told(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "config", text)

    with pytest.raises(ConfigurationError, match=f"^kubeconfig {path}: bad YAML: it is nested"):
        load([path])


def test_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=f"^kubeconfig {tmp_path}: is a directory"):
        load([tmp_path])


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run as a user without rights, when we have all of them."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "config", FIRST)
    path.chmod(0)

    with (
        as_nobody(),
        pytest.raises(ConfigurationError, match=f"^kubeconfig {path}: permission denied"),
    ):
        load([path])


def test_no_repr_shows_a_secret(tmp_path: Path) -> None:
    path = write(
        tmp_path / "config",
        """
clusters: [{name: c, cluster: {proxy-url: "http://me:secret@proxy"}}]
users: [{name: u, user: {token: secret, password: secret, client-key-data: c2VjcmV0,
  exec: {command: plugin, args: [secret], env: [{name: A, value: secret}]}}}]
""",
    )
    merged = load([path])
    user, cluster = merged.users["u"].value, merged.clusters["c"].value

    for shown in (
        merged,
        user,
        user.exec,
        cluster,
        user.client_key_data,
        user.exec and user.exec.env,
    ):
        assert "secret" not in repr(shown).replace(str(path), "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 200, "nested without end"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{this}: &{this} [{','.join([f'*{before}'] * 10)}]\n"
                for before, this in pairwise("abcdefghi")
            ),
            "its aliases repeat too much",
        ),
        ("users: !!timestamp x", "bad YAML"),
        ("users: !!bool x", "bad YAML"),
        ("users: !" + "x" * 5000 + " y", "could not determine a constructor"),
    ],
    ids=["deep", "bomb", "timestamp", "bool", "tag"],
)
def test_a_file_that_was_made_to_do_harm_is_refused_in_one_short_line(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        load([write(tmp_path / "config", text)])

    assert len(str(raised.value)) < 500
