"""What kiwigrid/k8s-sidecar's own tests claim of it, claim by claim, of ours.

Seven sidecars run beside each other, as its pods do; ten objects are created, then seven of them
changed.  Each test is one claim about what was there then.
"""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from reflet.testing.pytest_plugin import running_server
from tests.sidecar_process import sidecar_process, until
from tests.sidecar_scenes import SidecarScene, config_map, secret
from tests.sidecar_surroundings import Document, WebTarget

LOGO: Final = bytes(range(256)) * 4
ANNOTATION: Final = "k8s-sidecar-target-directory"
HELLO: Final = "Hello from python script!"
CREATED: Final = (
    *("sample-configmap", "sample-secret-binary", "absolute-configmap", "relative-configmap"),
    *("change-dir-configmap", "similar-configmap-secret", "url-configmap-500"),
    *("url-configmap-basic-auth", "url-configmap-binary-download"),
)
NAMED: Final = ("@hello.world", "@cm-kubelogo.png", "@secret-kubelogo.png")
ALL: Final = (
    *NAMED,
    *("relative/@relative.txt", "DIR/change-dir.txt", "@similar-configmap.txt"),
    *("@similar-secret.txt", "downloaded.png", "secured.txt", "500.txt"),
)
LOGGING: Final = """
version: 1
disable_existing_loggers: false
root: {level: DEBUG, handlers: [out]}
handlers:
  out: {class: logging.handlers.RotatingFileHandler, formatter: JSON, filename: "%s"}
formatters:
  JSON:
    (): logger.JsonFormatter
    format: '%%(levelname)s %%(message)s'
    rename_fields: {message: msg, levelname: level}
"""


@dataclass
class Pod:
    """One sidecar and what was seen of it."""

    name: str
    environ: dict[str, str]
    arguments: tuple[str, ...] = ()
    folder: Path = field(init=False)
    log: Path = field(init=False)
    port: int = field(init=False)
    created: dict[str, bytes] = field(default_factory=dict)
    changed: dict[str, bytes] = field(default_factory=dict)
    log_created: str = ""
    log_changed: str = ""
    health: dict[str, str] = field(default_factory=dict)

    def place(self, work: Path) -> None:
        self.folder, self.log = work / self.name, work / f"{self.name}.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }

    def asked(self, host: str) -> str:
        try:
            with urllib.request.urlopen(f"http://{host}:{self.port}/healthz", timeout=5) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, OSError):
            return "refused"

    def text(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


def objects(target: WebTarget, prefix: str, change_dir: str) -> list[Document]:
    """The objects; with a *prefix*, as they are after the change."""
    binary = base64.b64encode(LOGO).decode()
    changing = [
        config_map(
            "sample-configmap",
            {f"{prefix}hello.world": "Hello World!"},
            binaryData={f"{prefix}cm-kubelogo.png": binary},
        ),
        secret("sample-secret-binary", {f"{prefix}secret-kubelogo.png": LOGO}),
        config_map("absolute-configmap", {f"{prefix}absolute.txt": "there"}, folder="@ABSOLUTE@"),
        config_map("relative-configmap", {f"{prefix}relative.txt": "there"}, folder="relative"),
        config_map("change-dir-configmap", {"change-dir.txt": "there"}, folder=change_dir),
        config_map("similar-configmap-secret", {f"{prefix}similar-configmap.txt": "similar"}),
        secret("similar-configmap-secret", {f"{prefix}similar-secret.txt": b"similar"}),
    ]
    if prefix:
        return changing
    url = base64.b64encode(f"{target.url}/binary".encode()).decode()
    return [
        *changing,
        config_map("url-configmap-500", {"500.txt.url": f"{target.url}/500"}),
        config_map("url-configmap-basic-auth", {"secured.txt.url": f"{target.url}/secured"}),
        config_map("url-configmap-binary-download", binaryData={"downloaded.png.url": url}),
    ]


def pods(work: Path) -> list[Pod]:
    """The sidecars, as the original's manifests have them."""
    login = {"REQ_USERNAME": "user1", "REQ_PASSWORD": "pass:wörd"}
    shell, python = work / "script.sh", work / "script.py"
    shell.write_text(f"#!/bin/sh\ntouch {work}/script_result\n")
    python.write_text(f'#!/usr/bin/env python\nprint("{HELLO}")\n')
    for path in (shell, python):
        path.chmod(0o777)
    (work / "user").write_text("user1\n")
    (work / "password").write_bytes("pass:wörd\n".encode())
    log_config = work / "logging.yaml"
    log_config.write_text(LOGGING % (work / "rotating.log"))
    files = {
        "REQ_USERNAME_FILE": str(work / "user"),
        "REQ_PASSWORD_FILE": str(work / "password"),
    }
    flags = (f"--req-username-file={work}/user", f"--req-password-file={work}/password")
    return [
        Pod("sidecar", {**login, "SCRIPT": str(shell)}),
        Pod("ipv4", {"HEALTH_HOST": "0.0.0.0", "METHOD": "SLEEP", "SLEEP_TIME": "1"}),
        Pod("args", {}, flags),
        Pod("envfile", files),
        Pod("5xx", {"ENABLE_5XX": "", "SCRIPT": str(python)}),
        Pod("logfile", {"LOG_CONFIG": str(log_config), "SCRIPT": str(python)}),
        Pod(
            "resource-name",
            {"RESOURCE_NAME": "configmap/sample-configmap,secret/sample-secret-binary"},
        ),
    ]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pod]:
    work = tmp_path_factory.mktemp("claims")
    all_pods = pods(work)
    with ExitStack() as closing:
        server = closing.enter_context(running_server({"tls": False}))
        target = closing.enter_context(WebTarget())
        scene = SidecarScene(server, target, work, {})
        for pod in all_pods:
            pod.place(work)
            environ = {
                "LABEL": "findme",
                "FOLDER": str(pod.folder),
                "FOLDER_ANNOTATION": f"{ANNOTATION}-{pod.name}",
                "RESOURCE": "both",
                "NAMESPACE": "default",
                "LOG_LEVEL": "DEBUG",
                "RELOAD_DEBOUNCE": "0",
                "RESYNC_INTERVAL": "1",
                "REQ_RETRY_TOTAL": "1",
                "HEALTH_PORT": str(pod.port),
                "KUBECONFIG": str(server.kubeconfig),
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "LANG": "C.UTF-8",
                **pod.environ,
            }
            closing.enter_context(sidecar_process(environ, pod.log, *pod.arguments))
        for pod in all_pods:
            until(partial(is_healthy, pod))
            pod.health = {host: pod.asked(host) for host in ("127.0.0.1", "[::1]")}
        scene.put(*placed(objects(target, "", "orig-dir"), all_pods))
        wait_for(all_pods, "created")
        scene.put(*placed(objects(target, "change-", "new-dir"), all_pods))
        wait_for(all_pods, "changed")
    return {pod.name: pod for pod in all_pods}


def is_healthy(pod: Pod) -> bool:
    return pod.asked("127.0.0.1") == "OK"


def placed(documents: list[Document], all_pods: list[Pod]) -> list[Document]:
    """The objects with a folder for each sidecar: the original's have a machine of their own."""
    for document in documents:
        annotations = document["metadata"].get("annotations", {})
        folder = annotations.pop(ANNOTATION, None)
        for pod in all_pods if folder is not None else ():
            place = f"{pod.folder}-absolute" if folder == "@ABSOLUTE@" else folder
            annotations[f"{ANNOTATION}-{pod.name}"] = place
    return documents


def wait_for(all_pods: list[Pod], stage: str) -> None:
    """Wait until every sidecar has done what there is to do, and keep what is to be seen.

    One that never does is for the claims to complain about.
    """
    for pod in all_pods:
        until(partial(is_done, pod, stage))
        setattr(pod, stage, pod.files())
        setattr(pod, f"log_{stage}", pod.text())


def is_done(pod: Pod, stage: str) -> bool:
    """Whether the log names every object again, and files and runs are those of the stage."""
    text = pod.text()[len(pod.log_created) :]
    names = {"resource-name": CREATED[:2], "logfile": ()}.get(pod.name, CREATED)
    runs = {"created": 10, "changed": 17}[stage]
    heard = {"5xx": pod.log, "logfile": pod.folder.parent / "rotating.log"}.get(pod.name)
    hears = heard is None or (heard.exists() and heard.read_text().count(HELLO) >= runs)
    prefix, folder = {"created": ("", "orig-dir"), "changed": ("change-", "new-dir")}[stage]
    files = NAMED if pod.name == "resource-name" else ALL
    wanted = {each.replace("@", prefix).replace("DIR", folder) for each in files}
    return all(name in text for name in names) and hears and pod.files().keys() == wanted


def test_1_every_sidecar_becomes_ready(cluster: dict[str, Pod]) -> None:
    assert {pod.health["127.0.0.1"] for pod in cluster.values()} == {"OK"}


def test_2_health_is_served_by_both_protocols_unless_an_address_is_given(
    cluster: dict[str, Pod],
) -> None:
    both, one = cluster["sidecar"], cluster["ipv4"]

    assert f"Starting health server on port {both.port}" in both.log_created
    assert f"Starting health server on port {one.port}" in one.log_created
    assert one.health["[::1]"] == "refused"
    if not _has_ipv6():
        pytest.skip("this machine has no IPv6 on loopback")
    assert both.health["[::1]"] == "OK"


def test_3_the_log_names_every_object_after_creation_and_again_after_the_change(
    cluster: dict[str, Pod],
) -> None:
    for name in ("sidecar", "5xx"):
        pod = cluster[name]
        later = pod.log_changed[len(pod.log_created) :]
        assert [each for each in CREATED if each not in pod.log_created] == []
        assert [each for each in CREATED if each not in later] == []


def test_4_the_log_says_which_server(cluster: dict[str, Pod]) -> None:
    for name in ("sidecar", "ipv4"):
        assert re.search(
            r"Config for cluster api at 'http://127\.0\.0\.1:\d+' loaded\.",
            cluster[name].log_created,
        )


def test_5_files_are_there_byte_for_byte(cluster: dict[str, Pod]) -> None:
    pod = cluster["sidecar"]

    assert pod.created == {
        "hello.world": b"Hello World!",
        "cm-kubelogo.png": LOGO,
        "secret-kubelogo.png": LOGO,
        "downloaded.png": bytes(range(256)),
        "relative/relative.txt": b"there",
        "orig-dir/change-dir.txt": b"there",
        "similar-configmap.txt": b"similar",
        "similar-secret.txt": b"similar",
        "secured.txt": b"allowed",
        "500.txt": b"",
    }
    assert Path(f"{pod.folder}-absolute/change-absolute.txt").read_bytes() == b"there"


def test_6_a_server_error_leaves_an_empty_file_and_is_said(cluster: dict[str, Pod]) -> None:
    assert cluster["sidecar"].created["500.txt"] == cluster["5xx"].created["500.txt"] == b""
    assert "Max retries exceeded for URL" in cluster["sidecar"].log_created


@pytest.mark.parametrize("name", ["sidecar", "args", "envfile"])
def test_7_a_login_comes_from_flags_files_or_variables(cluster: dict[str, Pod], name: str) -> None:
    assert cluster[name].created["secured.txt"] == b"allowed"


def test_7_without_a_login_the_refusal_is_in_the_log(cluster: dict[str, Pod]) -> None:
    assert re.search("/secured.*Not authenticated", cluster["5xx"].log_created)
    assert cluster["5xx"].created["secured.txt"] == b""


def test_8_a_script_runs_once_for_each_object_event(cluster: dict[str, Pod]) -> None:
    pod = cluster["5xx"]

    assert (cluster["sidecar"].folder.parent / "script_result").exists()
    assert pod.log_created.count(HELLO) == 10
    assert pod.log_changed.count(HELLO) == 17


def test_8_the_same_into_a_file_of_log_config(cluster: dict[str, Pod]) -> None:
    log = cluster["logfile"].folder.parent / "rotating.log"

    assert log.read_text().count(HELLO) == 17
    assert json.loads(log.read_text().splitlines()[0]).keys() == {"time", "level", "msg"}


def test_9_named_objects_are_in_the_log_and_no_others(cluster: dict[str, Pod]) -> None:
    pod = cluster["resource-name"]

    assert "sample-configmap" in pod.log_created
    assert "sample-secret-binary" in pod.log_created
    assert set(pod.created) == {"hello.world", "cm-kubelogo.png", "secret-kubelogo.png"}


def test_10_after_the_change_old_files_are_gone_and_new_ones_there(cluster: dict[str, Pod]) -> None:
    pod = cluster["sidecar"]

    assert set(pod.changed) == {
        "change-hello.world",
        "change-cm-kubelogo.png",
        "change-secret-kubelogo.png",
        "downloaded.png",
        "relative/change-relative.txt",
        "new-dir/change-dir.txt",
        "change-similar-configmap.txt",
        "change-similar-secret.txt",
        "secured.txt",
        "500.txt",
    }
    assert not Path(f"{pod.folder}-absolute/absolute.txt").exists()


def test_11_a_sidecar_that_sleeps_starts_and_follows_too(cluster: dict[str, Pod]) -> None:
    assert "change-hello.world" in cluster["ipv4"].changed


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True
