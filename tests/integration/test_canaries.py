"""No secret gets out: not by a command, not by the library, not when everything goes wrong.

Every secret in these scenes is a canary, and every logger is at DEBUG.  tests/canaries.py looks
after the rest of the run, and tests/architecture/test_canary_check.py is the test of that.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import prometheus_client
import pytest

import reflet
from reflet.adapters.prometheus import PrometheusMetrics
from reflet.api.core.config import Secret
from reflet.api.core.pods import Pod
from reflet.api.options import ListOptions
from reflet.api.unstructured import AnyObject
from reflet.cli.main import COMMANDS
from reflet.devserver.faults import Action, Fault
from reflet.node.shim.protocol import JOURNAL
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from tests import canary_scenes
from tests.canaries import canary, finds
from tests.canary_scenes import (
    CORE,
    FILLED,
    FROM_FILES,
    PATHS,
    READING,
    Ears,
    command_lines,
    kubeconfig,
    manifest,
    pod,
    users,
)
from tests.integration.running import running
from tests.node_scenes import NODE, Scene, can_isolate, is_running, running_agent, waits_for
from tests.patience import Deadline, within
from tests.unit.managers.pods import pod as small_pod
from tests.unit.transport.pem_material import make_pair

PATIENCE: Final = 20.0  # seconds

SERVICE_ACCOUNT: Final = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "builder"},
}
ELSEWHERE: Final = frozenset({"watch", "serve", "run", "node", "sidecar"})
"""Commands that do not end by themselves: each has a test of its own below, that of the sidecar is
in test_sidecar_never_again."""
WITHOUT_SECRETS: Final = frozenset({"completion", "crd", "demo", "ps"})
"""ps asks a runtime for states, never for the variables of a container."""


ears, shop, reflet_command = (
    canary_scenes.ears,
    canary_scenes.shop,
    canary_scenes.reflet_command,
)


# Commands


def test_every_command_is_looked_at() -> None:
    looked_at = {command[0] for command in (*READING, *FROM_FILES)} | ELSEWHERE | WITHOUT_SECRETS

    assert set(COMMANDS) <= looked_at


def test_no_command_tells_a_secret_of_a_cluster(
    shop: RunningServer, ears: Ears, reflet_command: Callable[..., tuple[int, str, str]]
) -> None:
    spoke = 0
    for command in READING:
        _, output, errors = reflet_command(*command, "--kubeconfig", str(shop.kubeconfig))
        spoke += bool(output or errors)

    assert ears.leaks == []
    assert spoke == len(READING)


def test_no_command_tells_a_secret_of_a_file(
    tmp_path: Path, ears: Ears, reflet_command: Callable[..., tuple[int, str, str]]
) -> None:
    path = manifest(tmp_path)

    for command in FROM_FILES:
        reflet_command(*command, "-f", str(path))

    assert ears.leaks == []


def test_what_is_revealed_is_a_canary(shop: RunningServer, tmp_path: Path) -> None:
    """If this did not hold, the tests above would show nothing."""
    command = [sys.executable, "-m", "reflet", "env", "pod/web", "--reveal", "-o", "json"]
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([*command, "--kubeconfig", str(shop.kubeconfig)], stdout=out, check=False)

    assert canary("password") in (tmp_path / "out").read_text()


@pytest.mark.parametrize("form", ["table", "json", "yaml", "jsonl"])
def test_watch_tells_no_secret(shop: RunningServer, tmp_path: Path, form: str) -> None:
    arguments = ["watch", "secrets", "-o", form, "--kubeconfig", str(shop.kubeconfig)]
    output = spoken_by(
        tmp_path,
        arguments,
        until=lambda said: b"registry" in said,
        and_then=lambda: change(shop),
        and_until=lambda said: said.count(b"UPDATED") > 0 and b"lost" in said,
    )

    assert b"database" in output
    assert finds(output) == []


def change(server: RunningServer) -> None:
    """Change a secret while somebody watches, and lose the server."""
    request = urllib.request.Request(
        f"{server.url}{CORE}/secrets/database",
        data=json.dumps({"stringData": {"password": canary("changed")}}).encode(),
        headers={"Content-Type": "application/merge-patch+json"},
        method="PATCH",
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200
    server.add_fault(Fault(Action.CORRUPT, verb="watch", now=True))
    server.restart(0.1)


def test_serve_tells_no_token(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "token").write_text(canary("served"))
    (data / "service-account.key").write_text(canary("served-key"))
    arguments = ["serve", "--data-dir", str(data), "-f", str(manifest(tmp_path))]

    output = spoken_by(tmp_path, arguments, until=lambda said: b"kubeconfig" in said)

    assert canary("served") in (data / "kubeconfig").read_text()
    assert finds(output) == []


def spoken_by(
    folder: Path,
    arguments: list[str],
    *,
    until: Callable[[bytes], bool],
    and_then: Callable[[], None] = lambda: None,
    and_until: Callable[[bytes], bool] = lambda _: True,
) -> bytes:
    """What a command that does not end says, until it is ended, and its command lines."""
    out = folder / "spoken"
    with out.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "reflet", *arguments], stdout=output, stderr=output
        )
    try:
        wait_for(lambda: until(out.read_bytes()))
        and_then()
        wait_for(lambda: and_until(out.read_bytes()))
        lines = "\n".join(command_lines(process.pid))
    finally:
        process.terminate()
        process.wait(PATIENCE)
    assert "reflet" in lines
    return out.read_bytes() + lines.encode()


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = Deadline(PATIENCE)
    while not reached():
        assert not deadline.passed, "it did not happen in time"
        time.sleep(0.01)


def test_run_keeps_secrets_out_of_command_lines_and_words(
    shop: RunningServer, tmp_path: Path
) -> None:
    script = "echo ${#PASSWORD} up; while :; do sleep 0.05; done"
    arguments = ["pod/web", "--kubeconfig", str(shop.kubeconfig), "--", "sh", "-c", script]
    with running(tmp_path, arguments) as started:
        started.until_output(f"{len(canary('password'))} up")
        lines = command_lines(started.process.pid)
        change(shop)
        started.until_output("up\n" + str(len(canary("changed"))))
        lines += command_lines(started.process.pid)

        assert len(lines) > 2
        assert finds("\n".join(lines)) == []
        assert finds(started.said) == []


async def test_the_node_agent_keeps_secrets_to_the_pods(
    shop: RunningServer, tmp_path: Path, ears: Ears
) -> None:
    async with (
        reflet.connect(kubeconfig=str(shop.kubeconfig)) as cluster,
        within(2 * PATIENCE),
        running_agent(cluster, tmp_path) as agent,
    ):
        scene = Scene(cluster, tmp_path)
        await scene.pods.create(pod("local", nodeName=NODE))
        await scene.pods.create(pod("lost", nodeName=NODE, container=MISSING))
        await scene.pod("local", is_running)
        lost = await scene.pod("lost", waits_for("CreateContainerConfigError"))
        events = await scene.events("lost")
        metrics = await asyncio.to_thread(page, f"{agent.health_url}/metrics")
        ears.hear(repr(lost), repr(events), metrics, repr(agent))
        ears.hear(*command_lines_of_this_process())

        assert "reflet" in metrics
    assert ears.leaks == []


@pytest.mark.parametrize("isolation", sorted({can_isolate(), False}))
async def test_no_field_that_is_filled_from_a_secret_tells_it(
    shop: RunningServer, tmp_path: Path, ears: Ears, isolation: bool
) -> None:
    """Looked at are statuses, events, logs of agent and shim, and the agent's pages.

    Not the processes: a container whose ``args`` name a variable has its value among them.
    """
    async with (
        reflet.connect(kubeconfig=str(shop.kubeconfig)) as cluster,
        within(4 * PATIENCE),
        running_agent(cluster, tmp_path, isolation=isolation) as agent,
    ):
        scene = Scene(cluster, tmp_path)
        await scene.secrets.create(PATHS)
        for name, changes in FILLED.items():
            document = pod(name, nodeName=NODE, restartPolicy="Never", **changes)
            await scene.pods.create(document)
        for name in FILLED:
            ears.hear(repr(await scene.pod(name, has_been_tried)))
        for name in FILLED:
            # A path that is too long for a link is none for a mount.
            works = isolation and name == "sub-path-deep"
            ears.hear(repr(await scene.events(name, *(() if works else EVENTS.get(name, ())))))
        for path in ("metrics", "pods", "readyz?verbose"):
            ears.hear(await asyncio.to_thread(page, f"{agent.health_url}/{path}"))
        ears.hear((agent.options.root / JOURNAL).read_bytes())

    assert ears.leaks == []


EVENTS: Final[Mapping[str, tuple[str, ...]]] = {
    name: ("FailedMount",) if name in {"no-item", "bad-path"} else ("Failed",)
    for name in FILLED
    if (name.startswith("sub-path-") and name != "sub-path-of-secret")
    or name in {"no-item", "bad-path", "command", "command-path", "zero-in-variable"}
}


def has_been_tried(tried: Pod) -> bool:
    """Whether a pod has ended, or its volumes or its container are refused."""
    if tried.status.phase in {"Succeeded", "Failed"}:
        return True
    waiting = [each.state.waiting for each in tried.status.container_statuses]
    reasons = {each.reason for each in waiting if each is not None}
    starting = {"PodInitializing"} if tried.spec.init_containers else set()
    return bool(reasons - starting)


MISSING: Final = {
    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "database", "key": "absent"}}}]
}


def page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        text: str = answer.read().decode()
    return text


def command_lines_of_this_process() -> list[str]:
    return command_lines(os.getpid())[1:]


# The library


async def test_nothing_of_the_library_shows_a_secret(
    shop: RunningServer, tmp_path: Path, ears: Ears
) -> None:
    registry = prometheus_client.CollectorRegistry()
    metrics = PrometheusMetrics(registry)
    async with reflet.connect(kubeconfig=str(shop.kubeconfig)) as cluster:
        secrets = cluster.resource(Secret)
        one = await secrets.get("database")
        many = await secrets.list(ListOptions())
        raw = await cluster.resource("secrets", raw=True).get("database")
        async with (
            cluster.mirror(Secret, metrics=metrics) as mirror,
            reflet.SecretManager(cluster, metrics=metrics) as manager,
        ):
            await mirror.synced(timeout=PATIENCE)
            using = small_pod("user", secrets=["database"], namespace="default")
            manager.register_pod(using)
            kept = await manager.get("default", "database")
            changes = [change async for change in first(mirror.changes(), 2)]
            environment = resolve_environment(using, "app", ObjectsInHand([one]))
            await cluster.resource("serviceaccounts").create(SERVICE_ACCOUNT)
            token = await cluster.request_token("builder", namespace="default")
            shown = (
                one, many, raw, mirror, manager, kept, changes, environment, cluster, token,
                cluster.settings, cluster.settings.credentials, mirror.informer,
                mirror.informer.store, manager.plan(), [*mirror],
            )  # fmt: skip
            ears.hear(*map(repr, shown), *map(str, shown))
            ears.hear(traceback_with_locals(one, raw, mirror, cluster, environment))
    ears.hear(prometheus_client.generate_latest(registry))

    assert token.token
    assert one.data["password"] == canary("password").encode()
    assert isinstance(raw, AnyObject)
    assert ears.leaks == []


async def first(stream: Any, count: int) -> Any:
    async for change in stream:
        yield change
        count -= 1
        if not count:
            return


def traceback_with_locals(*values: object) -> str:
    """What a program shows that prints the values of all variables where it failed."""

    def fails(values: tuple[object, ...]) -> None:
        secret, raw, mirror, cluster, environment = values
        raise RuntimeError(f"{secret} {raw} {mirror} {cluster} {environment}")

    try:
        fails(values)
    except RuntimeError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        return "".join(shown.format())
    raise AssertionError("it did not fail")


def test_settings_show_no_secret_however_they_are_shown(tmp_path: Path, ears: Ears) -> None:
    pair = make_pair()
    shown_users: list[dict[str, Any]] = [
        users()["token"],
        users()["basic"],
        {
            "client-certificate-data": base64.b64encode(pair.certificate).decode(),
            "client-key-data": base64.b64encode(pair.key).decode(),
        },
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "x",
                "interactiveMode": "Never",
                "env": [{"name": "TOKEN", "value": canary("execenv")}],
            }
        },
    ]
    for user in shown_users:
        config = kubeconfig(tmp_path, "https://127.0.0.1:1", user)
        settings = resolve_settings(Overrides(kubeconfig=str(config)), {}, tmp_path)
        ears.hear(repr(settings), str(settings), repr(settings.credentials))

    assert ears.leaks == []
    assert not any("PRIVATE KEY" in text for text in ears.told)
