"""Reflet on a Mac, imitated: what works on Linux works there, but for isolation."""

from __future__ import annotations

import os
import re
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.platforms.machines import Mac, why_no_mac

if why_no_mac():
    pytest.skip(why_no_mac(), allow_module_level=True)

SHOP: Final = """
apiVersion: v1
kind: ConfigMap
metadata: {name: shop, namespace: default, labels: {folder: "yes"}}
data: {colour: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: shop, namespace: default}
stringData: {password: hunter2}
---
apiVersion: v1
kind: Pod
metadata: {name: shop, namespace: default}
spec:
  containers:
  - name: web
    image: web
    envFrom: [{configMapRef: {name: shop}}]
    volumeMounts: [{name: secret, mountPath: /etc/shop}]
  volumes: [{name: secret, secret: {secretName: shop}}]
"""

MIRROR: Final = """
import asyncio, sys, reflet
from reflet.api.core.config import ConfigMap

async def main():
    async with reflet.connect(kubeconfig=sys.argv[1]) as cluster:
        async with cluster.mirror(ConfigMap, namespace="default") as mirror:
            await mirror.synced(timeout=20)
            print(sys.platform, mirror["shop"].data["colour"])

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def mac(tmp_path_factory: pytest.TempPathFactory) -> Mac:
    made = Mac(tmp_path_factory.mktemp("mac"))
    (made.folder / "shop.yaml").write_text(SHOP)
    return made


@pytest.fixture(scope="module")
def kubeconfig(mac: Mac) -> Iterator[str]:
    """A development server on the Mac, which has the shop."""
    path = mac.folder / "kubeconfig"
    command = mac.reflet("serve", "--port", "0", "--kubeconfig-out", path, "-f", "shop.yaml")
    with mac.running(command) as server:
        assert server.stdout is not None
        said = []
        while not path.exists():
            said.append(server.stdout.readline())
            assert said[-1], "".join(said)
        yield str(path)


def test_the_imitation_has_no_proc(mac: Mac) -> None:
    code = "import os, sys; print(sys.platform, os.listdir('/proc'), hasattr(os, 'pidfd_open'))"

    assert mac.run(mac.wrapped((mac.python, "-c", code))).stdout == "darwin [] False\n"


def test_a_program_mirrors_a_collection(mac: Mac, kubeconfig: str) -> None:
    done = mac.run(mac.wrapped((mac.python, "-c", MIRROR, kubeconfig)))

    assert (done.stdout, done.stderr) == ("darwin blue\n", "")


def test_run_gives_variables_and_files_and_says_that_secrets_are_on_disk(
    mac: Mac, kubeconfig: str
) -> None:
    shell = 'echo "$colour $(cat "$REFLET_ROOT/etc/shop/password")"'
    done = mac.run(
        mac.reflet("run", "pod/shop", "--kubeconfig", kubeconfig, "--", "sh", "-c", shell)
    )

    assert (done.returncode, done.stdout) == (0, "blue hunter2\n")
    assert re.search(r"on disk, in \S+: macOS has no file system in memory\n", done.stderr)


def test_run_restarts_the_process_when_its_variable_changes(mac: Mac) -> None:
    shell = 'echo "now $colour"; exec sleep 600'
    other = SHOP.replace("blue", "red").replace("ame: shop", "ame: other")
    (mac.folder / "other.yaml").write_text(other)
    command = mac.reflet("run", "-f", "other.yaml", "pod/other", "--", "sh", "-c", shell)
    with mac.running(command) as run:
        assert run.stdout is not None
        lines = iter(run.stdout.readline, "")
        assert any(line == "now red\n" for line in lines)
        (mac.folder / "other.yaml").write_text(other.replace("red", "green"))

        assert any(line == "now green\n" for line in lines)


def test_the_process_dies_with_a_run_that_is_killed(mac: Mac) -> None:
    shell = 'trap "echo pid $$" USR1; echo ready; while :; do sleep 0.1; done'
    command = mac.reflet("run", "-f", "shop.yaml", "pod/shop", "--", "sh", "-c", shell)
    with mac.running(command) as run:
        assert run.stdout is not None
        lines = iter(run.stdout.readline, "")
        assert any(line == "ready\n" for line in lines)
        run.send_signal(signal.SIGUSR1)  # whoever passes it on has finished the start
        told = next(line for line in lines if line.startswith("pid "))
        descriptor = os.pidfd_open(int(told.split()[1]))
        run.send_signal(signal.SIGKILL)
        run.stdout.read()  # ends when the last process that has it is gone

    os.close(descriptor)
    assert not Path("/proc", told.split()[1], "exe").exists()


def test_isolation_is_refused_in_one_line(mac: Mac) -> None:
    done = mac.run(
        mac.reflet("run", "--isolate", "-f", "shop.yaml", "pod/shop", "--", "/usr/bin/env")
    )

    assert done.stderr == "reflet: error: --isolate needs Linux, and this is macOS\n"
    assert done.returncode != 0


def test_files_are_listed_and_written(mac: Mac, kubeconfig: str) -> None:
    target = mac.folder / "files"
    done = mac.run(mac.reflet("files", "pod/shop", "--kubeconfig", kubeconfig, "--to", target))

    assert (done.returncode, done.stderr) == (0, "")
    assert [path.read_text() for path in target.rglob("password")] != []


def test_watch_shows_what_is_there(mac: Mac, kubeconfig: str) -> None:
    with mac.running(mac.reflet("watch", "configmaps", "--kubeconfig", kubeconfig)) as watch:
        assert watch.stdout is not None

        assert any("shop" in line for line in iter(watch.stdout.readline, ""))


def test_ui_answers(mac: Mac, kubeconfig: str) -> None:
    with mac.running(
        mac.reflet("ui", "--no-open", "--port", "0", "--kubeconfig", kubeconfig)
    ) as page:
        assert page.stdout is not None
        said = (re.search(r"http://\S+", line) for line in iter(page.stdout.readline, ""))
        address = next(found for found in said if found)
        with urllib.request.urlopen(address[0], timeout=20) as answer:
            assert answer.status == 200


def test_sidecar_writes_files_and_runs_the_script(mac: Mac, kubeconfig: str) -> None:
    folder = mac.folder / "sidecar"
    folder.mkdir()
    script = mac.folder / "reload"
    script.write_text(f"#!/bin/sh\ncp {folder}/colour {mac.folder}/reloaded\n")
    script.chmod(0o755)
    variables = {
        "LABEL": "folder",
        "FOLDER": str(folder),
        "NAMESPACE": "default",
        "METHOD": "LIST",
        "SCRIPT": str(script),
    }
    done = mac.run(mac.reflet("sidecar", "--kubeconfig", kubeconfig), environ=variables)

    assert done.returncode == 0, done.stderr
    assert (folder / "colour").read_text() == "blue"
    assert (mac.folder / "reloaded").read_text() == "blue"


@pytest.mark.time_limit(120)
def test_the_demo_runs_to_its_end(mac: Mac) -> None:
    done = mac.run(mac.reflet("demo"))

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def test_a_node_with_isolation_is_refused_in_one_line(mac: Mac, kubeconfig: str) -> None:
    done = mac.run(
        mac.reflet("node", "--run", "--user", "root", "--root", "node", "--kubeconfig", kubeconfig)
    )

    assert done.stderr.startswith("error: --run with isolation needs Linux, and this is macOS")
    assert done.stderr.count("\n") == 1
