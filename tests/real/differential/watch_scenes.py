"""Scenes about watches.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import config_map, pod
from tests.real.differential.list_scenes import event
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    METADATA,
    PODS,
    TABLE,
    YAML,
    ForgetHistory,
    Scene,
    Watch,
    delete,
    get,
    patch,
    post,
    scene,
)

WATCH: Final = f"{CONFIG_MAPS}?watch=true"
FROM: Final = f"{WATCH}&resourceVersion=<start>"
INITIAL: Final = f"{WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
NOW: Final = get(CONFIG_MAPS, keep={"start": "metadata.resourceVersion"})


def labelled(name: str, **labels: str) -> dict[str, Any]:
    return config_map(name=name, metadata={"labels": labels})


def by_name(events: Any) -> Any:
    """Put initial events in order: nobody is promised one."""
    if not isinstance(events, list):
        return events
    return sorted(events, key=lambda each: str(each["object"]["metadata"].get("name", "~")))


def watch_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _plain()
    yield from _initial()
    yield from _selected()
    yield from _refused()
    yield from _forms()


def _plain() -> Iterator[Scene]:
    changes = (
        post(CONFIG_MAPS, labelled("a")),
        patch(f"{CONFIG_MAPS}/a", {"data": {"b": "c"}}),
        post(CONFIG_MAPS, labelled("b")),
        delete(f"{CONFIG_MAPS}/a"),
    )
    yield scene("watch what happens", NOW, Watch(FROM, 4, during=changes))
    yield scene("watch what happened", NOW, *changes, Watch(FROM, 4))
    yield scene(
        "watch for a while",
        NOW,
        *changes[:2],
        Watch(f"{FROM}&timeoutSeconds=1"),
        Watch("/api/v1/watch/namespaces/<ns>/configmaps?resourceVersion=<start>", 2),
        Watch("/api/v1/watch/namespaces/<ns>/configmaps/a?resourceVersion=<start>", 2),
        Watch(f"{WATCH}&resourceVersion=<start>&watch=1", 2),
        Watch(f"{CONFIG_MAPS}/a?watch=true&resourceVersion=<start>", 2),
    )
    yield scene(
        "watch pods that come and go",
        get(PODS, keep={"start": "metadata.resourceVersion"}),
        post(PODS, pod(metadata={"name": "p"})),
        patch(f"{PODS}/p/status", {"status": {"phase": "Running"}}),
        delete(f"{PODS}/p"),
        Watch(f"{PODS}?watch=true&resourceVersion=<start>", 4),
    )
    yield scene(
        "watch a finalizer hold",
        NOW,
        post(CONFIG_MAPS, config_map(name="f", metadata={"finalizers": ["example.com/keep"]})),
        delete(f"{CONFIG_MAPS}/f"),
        patch(f"{CONFIG_MAPS}/f", {"metadata": {"finalizers": None}}),
        Watch(FROM, 3),
    )


def _initial() -> Iterator[Scene]:
    two = (post(CONFIG_MAPS, labelled("a", tier="web")), post(CONFIG_MAPS, labelled("b")))
    yield scene(
        "watch from any version",
        *two,
        Watch(WATCH, 2, view=by_name),
        Watch(f"{WATCH}&resourceVersion=0", 2, view=by_name),
        Watch(f"{WATCH}&resourceVersion=0&labelSelector=tier%3Dweb", 1),
        Watch(f"{WATCH}&fieldSelector=metadata.name%3Db", 1),
    )
    yield scene(
        "watch with initial events",
        *two,
        Watch(f"{INITIAL}&allowWatchBookmarks=true", 3, view=by_name),
        Watch(f"{INITIAL}&allowWatchBookmarks=true&resourceVersion=0", 3, view=by_name),
        Watch(f"{INITIAL}&allowWatchBookmarks=true&labelSelector=tier%3Dweb", 2, view=by_name),
        Watch(
            f"{INITIAL}&allowWatchBookmarks=true&timeoutSeconds=1",
            4,
            during=(post(CONFIG_MAPS, labelled("c")),),
            view=by_name,
        ),
    )
    yield scene(
        "watch with initial events of nothing, and without bookmarks",
        Watch(f"{INITIAL}&allowWatchBookmarks=true", 1),
        *two,
        Watch(f"{INITIAL}&timeoutSeconds=1", view=by_name),
    )
    yield scene(
        "watch without initial events",
        *two,
        Watch(
            f"{WATCH}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0",
            1,
            during=(post(CONFIG_MAPS, labelled("c")),),
        ),
    )
    yield scene(
        "watch with bookmarks until the end",
        *two,
        NOW,
        Watch(f"{FROM}&allowWatchBookmarks=true&timeoutSeconds=1"),
    )


def _selected() -> Iterator[Scene]:
    yield scene(
        "watch objects enter and leave a selection",
        NOW,
        post(CONFIG_MAPS, labelled("a", tier="web")),
        post(CONFIG_MAPS, labelled("b", tier="data")),
        patch(f"{CONFIG_MAPS}/b", {"metadata": {"labels": {"tier": "web"}}}),
        patch(f"{CONFIG_MAPS}/b", {"data": {"x": "y"}}),
        patch(f"{CONFIG_MAPS}/a", {"metadata": {"labels": {"tier": "data"}}}),
        delete(f"{CONFIG_MAPS}/a"),
        delete(f"{CONFIG_MAPS}/b"),
        Watch(f"{FROM}&labelSelector=tier%3Dweb", 5),
        Watch(f"{FROM}&labelSelector=tier%3Ddata", 4),
        Watch(f"{FROM}&fieldSelector=metadata.name%3Db", 4),
        Watch(f"{FROM}&labelSelector=tier%3Dnone&timeoutSeconds=1"),
    )
    yield scene(
        "watch pods enter and leave a phase",
        get(PODS, keep={"start": "metadata.resourceVersion"}),
        post(PODS, pod(metadata={"name": "p"})),
        patch(f"{PODS}/p/status", {"status": {"phase": "Running"}}),
        patch(f"{PODS}/p/status", {"status": {"phase": "Failed"}}),
        Watch(f"{PODS}?watch=true&resourceVersion=<start>&fieldSelector=status.phase%3DRunning", 2),
        Watch(
            f"{PODS}?watch=true&resourceVersion=<start>&fieldSelector=status.phase!%3DRunning", 3
        ),
    )


def _refused() -> Iterator[Scene]:
    yield scene(
        "watches that cannot be",
        Watch(f"{WATCH}&resourceVersion=abc"),
        Watch(f"{WATCH}&resourceVersion=-5"),
        Watch(f"{WATCH}&resourceVersionMatch=Exact&resourceVersion=5"),
        Watch(f"{WATCH}&resourceVersionMatch=NotOlderThan"),
        Watch(f"{WATCH}&sendInitialEvents=true"),
        Watch(f"{WATCH}&sendInitialEvents=true&resourceVersionMatch=Exact"),
        Watch(f"{WATCH}&labelSelector=a%3Db%3Dc"),
        Watch(f"{WATCH}&fieldSelector=data.a%3Db"),
        Watch(f"{WATCH}&timeoutSeconds=soon"),
        Watch(f"{WATCH}&allowWatchBookmarks=perhaps", 0),
        Watch(f"{WATCH}&continue=abc"),
        Watch(f"{WATCH}&limit=1", 0),
        Watch(WATCH, accept="application/xml"),
        Watch(f"{CORE}/nonsense?watch=true"),
        Watch("/api/v1/namespaces/no-such/configmaps?watch=true", 0),
    )
    yield scene(
        "watch from a forgotten version",
        post(f"{CORE}/events", event("one")),
        get(f"{CORE}/events", keep={"start": "metadata.resourceVersion"}),
        post(f"{CORE}/events", event("two")),
        ForgetHistory(),
        Watch(
            f"{CORE}/events?watch=true&resourceVersion=<start>",
            1,
            differs={"body.0.object.message": "expired-watches"},
        ),
        Watch(
            f"{CORE}/events?watch=true&resourceVersion=1&timeoutSeconds=1",
            differs={"body.0.object.message": "expired-watches"},
        ),
    )
    yield scene(
        "watch from a version to come",
        Watch(f"{WATCH}&resourceVersion=99999999&timeoutSeconds=1"),
    )


def _forms() -> Iterator[Scene]:
    yield scene(
        "watches in other forms",
        NOW,
        post(CONFIG_MAPS, labelled("a", tier="web")),
        post(CONFIG_MAPS, labelled("b", tier="web")),
        delete(f"{CONFIG_MAPS}/a"),
        Watch(FROM, 3, accept=TABLE),
        Watch(f"{FROM}&includeObject=Object", 2, accept=TABLE),
        Watch(FROM, 3, accept=METADATA),
        Watch(f"{INITIAL}&allowWatchBookmarks=true", 2, accept=TABLE),
        Watch(f"{INITIAL}&allowWatchBookmarks=true", 2, accept=METADATA),
        get(f"{FROM}&timeoutSeconds=1", accept=YAML),
    )
