"""Shops for the page in a browser: one with every state, and one of a thousand pods."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.errors import Forbidden
from reflet.runtime.clock import SystemClock
from reflet.ui.board import Board
from reflet.ui.page import Page
from tests.browser.browsing import Tab
from tests.page_scenes import OF_WEB, SALT, change, config_map, owned, pod

NOW: Final = datetime.now(UTC).replace(microsecond=0)
HOUR: Final = timedelta(hours=1)

SETTINGS: Final = {
    "LOG_LEVEL": "info",
    "REGION": "eu-west-1",
    "app.yaml": "server:\n  port: 8080\n",
}
EDITED: Final = {**SETTINGS, "LOG_LEVEL": "debug"}


class ShopClock(SystemClock):
    """It is always that moment in the shop: however long ago this module was read."""

    def now(self) -> datetime:
        return NOW + timedelta(seconds=1)


def page_of(board: Board, **options: Any) -> Page:
    """The page of a shop, in its own time."""
    return Page(board, clock=ShopClock(), **options)


READY: Final = "document.querySelectorAll('.block .row').length > 0"


async def opened(tab: Tab, page: Page) -> None:
    """The page in a tab, with its document."""
    await tab.do("goto", page.url)
    await tab.until(READY)


def settings(data: Mapping[str, str] = SETTINGS, *, ago: timedelta = 9 * HOUR) -> AnyObject:
    """The ConfigMap that everybody uses."""
    by = "kubectl-edit" if data is not SETTINGS else "kubectl-client-side-apply"
    return config_map(data, at=NOW - ago, by=by, version=str(4700 + len(str(data))))


def database(password: str = "Y29ycmVjdC1ob3JzZQ==", *, ago: timedelta = 9 * HOUR) -> AnyObject:
    """A Secret."""
    data = {"username": "c2hvcA==", "password": password}
    return config_map(data, "db", kind="Secret", at=NOW - ago, by="vault-agent", version="4511")


def shop(*, with_vault: bool = True) -> Board:
    """Current, on its way, needs a restart, missing, and with a vault not known: each is there."""
    made = Board("shop", "live", salt=SALT, began=NOW - 8 * HOUR)
    if with_vault:
        made.refuse("Secret", "vault", Forbidden("secrets is forbidden"))
        made.put_pod("vault/vault-0", made.brief_pod(vault()))
    for item in (settings(), database(), registry(), old_settings()):
        made.put_object(made.briefs(item), at=NOW - 8 * HOUR)
    for each in (*(web(number) for number in range(14)), billing(), edge()):
        made.put_pod(f"{each.metadata.namespace}/{each.metadata.name}", made.brief_pod(each))
    made.refresh(NOW)
    twelve = timedelta(minutes=12)
    change(made, database(), database("cm90YXRlZA==", ago=twelve), at=NOW - twelve)
    files = {**SETTINGS, "app.yaml": "server:\n  port: 9090\n"}
    now = timedelta(seconds=8)
    change(made, settings(), settings(files, ago=now), at=NOW - now)
    return made


def edit(made: Board) -> None:
    """Somebody changes LOG_LEVEL while the page is open."""
    files = {**SETTINGS, "app.yaml": "server:\n  port: 9090\n"}
    change(
        made,
        settings(files, ago=timedelta(seconds=8)),
        settings({**files, "LOG_LEVEL": "debug"}, ago=timedelta(seconds=-1)),
        at=NOW + timedelta(seconds=1),
    )


def registry() -> AnyObject:
    """A pull secret."""
    data = {".dockerconfigjson": "e30="}
    return config_map(data, "registry", kind="Secret", at=NOW - 9 * 24 * HOUR, version="102")


def old_settings() -> AnyObject:
    """A ConfigMap that nobody uses any more."""
    return config_map({"LOG_LEVEL": "warn"}, "settings-2025", at=NOW - 400 * HOUR, version="77")


def volume(name: str, **source: Any) -> dict[str, Any]:
    """A volume of configuration."""
    return {"name": name, **{kind: {"defaultMode": 420, **each} for kind, each in source.items()}}


def web(number: int) -> Pod:
    """One of the pods of a Deployment."""
    return pod(
        {
            "envFrom": [{"configMapRef": {"name": "settings"}}],
            "volumeMounts": [{"name": "settings", "mountPath": "/etc/shop"}],
        },
        f"web-7c9f-{number:05x}",
        started=NOW - 3 * HOUR + timedelta(seconds=number),
        volumes=(
            volume(
                "settings",
                configMap={"name": "settings", "items": [{"key": "app.yaml", "path": "app.yaml"}]},
            ),
        ),
        metadata={**OF_WEB, "creationTimestamp": (NOW - 3 * HOUR).isoformat()},
        spec={"imagePullSecrets": [{"name": "registry"}]},
    )


def billing() -> Pod:
    """A pod of a StatefulSet, with two containers."""
    running = {"running": {"startedAt": (NOW - 4 * HOUR).isoformat()}}
    statuses = [{"name": name, "state": running} for name in ("api", "legacy")]
    password = {"secretKeyRef": {"name": "db", "key": "password"}}
    api = {
        "name": "api",
        "env": [{"name": "DB_PASSWORD", "valueFrom": password}],
        "volumeMounts": [{"name": "db", "mountPath": "/run/db"}],
    }
    mount = {"name": "settings", "mountPath": "/app/legacy.yaml", "subPath": "app.yaml"}
    return pod(
        name="billing-0",
        volumes=(
            volume(
                "db",
                secret={"secretName": "db", "items": [{"key": "username", "path": "username"}]},
            ),
            volume("settings", configMap={"name": "settings"}),
        ),
        metadata={
            **owned("StatefulSet", "billing"),
            "creationTimestamp": (NOW - 4 * HOUR).isoformat(),
        },
        spec={"containers": [api, {"name": "legacy", "volumeMounts": [mount]}]},
        status={"phase": "Running", "containerStatuses": statuses},
    )


def edge() -> Pod:
    """A pod that waits for a Secret which does not exist."""
    items = [{"key": key, "path": key} for key in ("tls.crt", "tls.key")]
    return pod(
        {"volumeMounts": [{"name": "tls", "mountPath": "/etc/tls"}]},
        "edge-6b7-x2k",
        started=None,
        volumes=(volume("tls", secret={"secretName": "tls", "items": items}),),
        metadata={
            **owned("ReplicaSet", "edge-6b7", "6b7"),
            "creationTimestamp": (NOW - HOUR / 10).isoformat(),
        },
    )


def vault() -> Pod:
    """A pod whose Secret may not be read."""
    return pod(
        {"envFrom": [{"secretRef": {"name": "unseal"}}]},
        "vault-0",
        started=NOW - HOUR,
        metadata={**owned("StatefulSet", "vault"), "namespace": "vault"},
    )


def crowd(pods: int = 1000, keys: int = 5000) -> Board:
    """A thousand pods in fifty Deployments, and five thousand keys in five hundred objects."""
    made = Board("all namespaces", "live", salt=SALT, began=NOW - 8 * HOUR)
    objects, workloads = keys // 10, 50
    for number in range(objects):
        item = config_map(_many(number), f"settings-{number}", at=NOW - 9 * HOUR)
        made.put_object(made.briefs(item), at=NOW - 8 * HOUR)
    for number in range(pods):
        which = number % workloads
        names = [f"settings-{which + workloads * each}" for each in range(4)]
        of = owned("ReplicaSet", f"app-{which}-7c9f", "7c9f")
        each = pod(
            {"envFrom": [{"configMapRef": {"name": name}} for name in names]},
            f"app-{which}-7c9f-{number}",
            started=NOW - 3 * HOUR,
            metadata={**of, "creationTimestamp": (NOW - 3 * HOUR).isoformat()},
        )
        made.put_pod(f"shop/{each.metadata.name}", made.brief_pod(each))
    return made


def edit_in_crowd(made: Board, number: int, text: str) -> None:
    """Somebody changes a key of one of the objects of a crowd."""
    data = _many(number)
    item = config_map(data, f"settings-{number}", at=NOW - 9 * HOUR)
    later = config_map({**data, f"KEY_{number}_0": text}, f"settings-{number}", at=NOW)
    change(made, item, later, at=NOW)


def _many(number: int) -> dict[str, str]:
    return {f"KEY_{number}_{key}": f"value {key} of {number}" for key in range(10)}
