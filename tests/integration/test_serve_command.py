"""``reflet serve``: what it says, what it keeps, and how it ends."""

from __future__ import annotations

import base64
import errno
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.plain_client import Client, config_map
from tests.patience import overload

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seeded}\ndata: {x: '1'}\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {{name: seeded}}\n{}\n"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "reflet", "serve", *arguments]


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Run the command until it has said all it says, and stop it afterwards."""
    with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = []
        try:
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if line.startswith("export KUBECONFIG="):
                    break
            yield process, said
        finally:
            process.kill()


def client_of(said: Sequence[str]) -> Client:
    config = kubeconfig_of(said)
    return Client(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"])


def kubeconfig_of(said: Sequence[str]) -> Any:
    return json.loads(Path(said[-1].removeprefix("export KUBECONFIG=")).read_text())


def refused(*arguments: str) -> tuple[int, str]:
    finished = subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, timeout=30
    )
    return finished.returncode, finished.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_says_where_it_is_and_ends_when_told(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "kubeconfig"

    with serving("--no-tls", "--kubeconfig-out", str(out)) as (process, said):
        process.send_signal(number)
        code = process.wait(timeout=10 * overload())

    assert said[0] == "Kubernetes API for development only, never for production"
    assert said[1].startswith("serving at http://127.0.0.1:")
    assert said[-2].startswith("without TLS no token is needed: every program on this machine")
    assert said[-1] == f"export KUBECONFIG={out}"
    assert code == 0


def test_tls_is_on_and_its_authority_is_in_the_kubeconfig(tmp_path: Path) -> None:
    with serving("--kubeconfig-out", str(tmp_path / "kubeconfig")) as (_, said):
        config = kubeconfig_of(said)
        cluster = config["clusters"][0]["cluster"]
        context = ssl.create_default_context()
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context.load_verify_locations(cadata=authority)
        with urllib.request.urlopen(f"{cluster['server']}/livez", context=context) as answer:
            body = answer.read()

    assert cluster["server"].startswith("https://")
    assert body == b"ok"
    assert not any("no token is needed" in line for line in said)


def test_only_the_owner_reads_the_kubeconfig(tmp_path: Path) -> None:
    out = tmp_path / "kubeconfig"

    with serving("--no-tls", "--kubeconfig-out", str(out)):
        assert out.stat().st_mode & 0o777 == 0o600


def test_files_folders_and_standard_input_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(CONFIG_MAP)
    (tmp_path / "two.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    )

    with serving("--no-tls", "-f", str(tmp_path)) as (_, said):
        seeded = client_of(said).get("/api/v1/namespaces/default/configmaps/seeded")

    assert said[2:4] == ["namespaces/team created", "configmaps/seeded in default created"]
    assert seeded.body["data"] == {"x": "1"}


def test_data_survives_a_kill(tmp_path: Path) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    with serving("--no-tls", "--data-dir", str(tmp_path / "data")) as (process, said):
        first = client_of(said).create(path, config_map("a"))
        token = kubeconfig_of(said)["users"][0]["user"]["token"]
        process.kill()

    with serving("--no-tls", "--data-dir", str(tmp_path / "data")) as (_, said):
        again = client_of(said)
        kept = again.get(f"{path}/a").body
        later = again.create(path, config_map("b"))

    assert kept == first
    assert int(later["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
    assert kubeconfig_of(said)["users"][0]["user"]["token"] == token


def test_custom_kinds_survive_a_restart(tmp_path: Path) -> None:
    definition = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    with serving("--no-tls", "--data-dir", str(tmp_path)) as (_, said):
        client_of(said).create(definitions, definition)

    with serving("--no-tls", "--data-dir", str(tmp_path)) as (_, said):
        assert client_of(said).get("/apis/example.com/v1/widgets").code == 200


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        code, said = refused("--no-tls", "--port", port)

    assert code == 2
    assert said == (
        f"error: cannot listen on 127.0.0.1 port {port}: {os.strerror(errno.EADDRINUSE)}\n"
    )


def test_a_host_that_is_not_there_is_one_line() -> None:
    code, said = refused("--no-tls", "--host", "no-such-host.invalid")

    assert code == 2
    assert said.startswith("error: cannot listen on no-such-host.invalid port 0: ")
    assert "Unknown error" not in said
    assert said.count("\n") == 1


def test_a_data_folder_in_use_is_one_line(tmp_path: Path) -> None:
    with serving("--no-tls", "--data-dir", str(tmp_path)):
        code, said = refused("--no-tls", "--data-dir", str(tmp_path))

    assert code == 2
    assert said.startswith("error: ")
    assert str(tmp_path) in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("manifest", "line", "said"),
    [
        ("a: [\n", 1, "did not find expected node content"),
        (f"{CONFIG_MAP}---\nkind: Nothing\napiVersion: v1\n", 6, "no kind 'Nothing' in version"),
        (f"{CONFIG_MAP}---\n- 1\n", 6, "expected an object with apiVersion and kind"),
        (CONFIG_MAP.replace("seeded", "Wrong"), 1, "a lowercase RFC 1123 subdomain must"),
        (CONFIG_MAP.replace("\ndata", "\ndate"), 1, ".date: field not declared in schema"),
        (SECRET.format("data: canary"), 1, "data of the Secret is no mapping"),
        (SECRET.format("stringData: {p: {canary: x}}"), 1, "stringData['p'] of the Secret is no"),
        (SECRET.format("data: {p: [canary]}"), 1, "data['p'] of the Secret is no text"),
        (SECRET.format("stringData: {p: *canary}"), 4, "a text that begins with * needs quotes"),
    ],
)
def test_a_bad_manifest_is_one_line_with_its_place(
    tmp_path: Path, manifest: str, line: int, said: str
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(manifest)

    code, error = refused("--no-tls", "-f", str(file))

    assert code == 2
    assert error.startswith(f"error: {file}:{line}: ")
    assert said in error
    assert error.count("\n") == 1
    assert "canary" not in error


def test_a_kubeconfig_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    out = tmp_path / "missing" / "kubeconfig"

    code, said = refused("--no-tls", "--kubeconfig-out", str(out))

    assert code == 2
    assert said == f"error: cannot write the kubeconfig {out}: No such file or directory\n"


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    code, said = refused("--no-tls", "-f", str(tmp_path / "nothing.yaml"))

    assert code == 2
    assert said == f"error: cannot read {tmp_path / 'nothing.yaml'}: No such file or directory\n"


def test_of_a_folder_it_begins_with_what_it_has_kinds_for_and_says_the_rest(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("image: {tag: 1}\n")
    (tmp_path / "cm.yaml").write_text(CONFIG_MAP)
    (tmp_path / "till.yaml").write_text(
        "apiVersion: shop.dev/v1\nkind: Till\nmetadata: {name: t}\n"
    )
    (tmp_path / "bad.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n")

    with serving("--no-tls", "-f", str(tmp_path)) as (_, said):
        assert "configmaps/seeded in default created" in said
        assert f"left out: {tmp_path}/till.yaml:1: no kind 'Till' in version 'shop.dev/v1'" in said
        assert any(line.startswith(f"left out: {tmp_path}/bad.yaml:1: Pod") for line in said)


def test_who_plays_is_asked_for_by_name() -> None:
    with serving("--no-tls", "--play", "serviceaccounts") as (_, said):
        # Before the server was told to introduce itself, everybody had begun to play.
        path = "/api/v1/namespaces/default/serviceaccounts?watch=true&resourceVersion=1"
        with client_of(said).watch(path) as events:
            assert events.kinds_and_names(1) == [("ADDED", "default")]


def test_a_name_that_nobody_plays_is_one_line() -> None:
    code, said = refused("--play", "pods,dogs")

    assert code == 2
    assert said.startswith("error: nobody can play 'dogs': expected nodes, pods, replicasets, ")
