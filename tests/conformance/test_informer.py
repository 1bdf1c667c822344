"""The recorded cases of client-go's controller and shared informer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.errors import Expired
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.resync import ResyncPlan
from reflet.informer.options import QueueKind
from reflet.informer.process_deltas import BatchFailed, Updater
from reflet.informer.queues.delta_fifo import DeltaType, QueuedDelta
from reflet.informer.queues.ordered_queue import OrderedQueue
from reflet.informer.shared_informer import SharedInformer
from reflet.store.deltas import Replaced
from reflet.store.store import Store
from reflet.testing.scripted_source import After, Quiet, ScriptedSource, listing
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

RECORDED = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())["informer"]
CASES = {case["test"]: case for case in RECORDED["cases"]}

VERBS = {"ADDED": "add", "UPDATED": "update", "DELETED": "delete"}
SECONDS = {"0": 0.0, "5s": 5.0, "55s": 55.0, "1m": 60.0, "12h": 43200.0}
GONE = Expired("too old", code=410, reason="Expired")


def pod(name: str, version: str = "1") -> ConfigMap:
    """An object; which kind it is does not matter here."""
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="ns", resource_version=version))


def pods(versions: Mapping[str, str]) -> list[ConfigMap]:
    return [pod(name, version) for name, version in versions.items()]


def informer_of(source: ScriptedSource[ConfigMap], **options: Any) -> SharedInformer[ConfigMap]:
    settings = {"clock": VirtualClock(), "streaming": False, "chance": lambda: 0.0}
    return SharedInformer(source, name="pods", **{**settings, **options})


class Heard:
    """A handler that remembers what it is told, and what the store shows then."""

    def __init__(self, store: Store[ConfigMap]) -> None:
        self._store = store
        self.changes: list[Change[ConfigMap]] = []
        self.shown: list[dict[str, str]] = []

    def __call__(self, change: Change[ConfigMap]) -> None:
        self.changes.append(change)
        items, _ = self._store.snapshot()
        self.shown.append({it.metadata.name: it.metadata.resource_version for it in items.values()})

    def take(self) -> list[Change[ConfigMap]]:
        taken, self.changes = self.changes, []
        return taken


def event(change: Change[ConfigMap]) -> list[str]:
    metadata = change.object.metadata
    return [VERBS[change.type], metadata.name, metadata.resource_version]


def names(changes: Sequence[Change[ConfigMap]]) -> list[str]:
    return sorted(change.object.metadata.name for change in changes)


async def told_by_an_informer(row: dict[str, Any]) -> list[list[str]]:
    informer = informer_of(ScriptedSource(), on_error=lambda error: None)
    async with informer:
        informer.apply(Replaced(pods(row["initial"]), "10"))
        heard = Heard(informer.store)
        await informer.add_handler(heard).synced.wait()
        heard.take()
        heard.shown.clear()

        informer.apply(Replaced(pods(row["replace"]), "20"))
        await asyncio.sleep(1)

    assert all(shown == row["replace"] for shown in heard.shown)
    return [event(change) for change in heard.changes]


async def told_by_a_queue_with_known_objects(row: dict[str, Any]) -> list[list[str]]:
    store = Store[ConfigMap]()
    store.replace(pods(row["initial"]), "10")
    told: list[Change[ConfigMap]] = []
    updater = Updater(store, lambda changes, repeated: told.extend(changes))
    queue = OrderedQueue(known=store)

    queue.apply(Replaced(pods(row["replace"]), "20"))
    while len(queue):
        await queue.pop(updater.process)

    return [event(change) for change in told]


TOLD_IN_MODE = {"atomic": told_by_an_informer, "non-atomic": told_by_a_queue_with_known_objects}


@pytest.mark.parametrize("mode", CASES["TestReplaceEvents"]["modes"])
@pytest.mark.parametrize("row", CASES["TestReplaceEvents"]["table"])
async def test_TestReplaceEvents(row: dict[str, Any], mode: str) -> None:  # noqa: N802 - recorded
    told = await TOLD_IN_MODE[mode](row)

    deletions = [line for line in told if line[0] == "delete"]
    others = [line for line in told if line[0] != "delete"]
    assert told == deletions + others
    assert sorted(deletions) == sorted(line for line in row["events"] if line[0] == "delete")
    assert others == [line for line in row["events"] if line[0] != "delete"]


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_TestResetWatch(queue: QueueKind) -> None:  # noqa: N802 - the recorded name
    case = CASES["TestResetWatch"]
    source = ScriptedSource(
        lists=[listing("1", pod("pod-1", "1")), listing("3", pod("pod-1", "2"), pod("pod-2", "3"))],
        watches=[[After(5), GONE], [Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue)
    heard = Heard(informer.store)
    informer.add_handler(heard)

    async with informer:
        await asyncio.sleep(1)
        initial = heard.take()
        await asyncio.sleep(60)

    assert [(*event(change)[:2], change.initial) for change in initial] == [("add", "pod-1", True)]
    expected = [
        (verb, name, options[0]["isInInitialList"] if options else False)
        for verb, name, *options in case["events"]
    ]
    assert [(*event(change)[:2], change.initial) for change in heard.changes] == expected


async def test_TestListenerResyncPeriods() -> None:  # noqa: N802 - the recorded name
    case = CASES["TestListenerResyncPeriods"]
    objects = [pod(f"pod-{number}") for number in range(case["objects"])]
    informer = informer_of(
        ScriptedSource(lists=[listing("1", *objects)]), resync_every=case["informerPeriod"]
    )
    heard = {name: Heard(informer.store) for name in case["listeners"]}
    for name, period in case["listeners"].items():
        informer.add_handler(heard[name], name=name, resync_every=period)

    resyncs = {}
    async with informer:
        await asyncio.sleep(0.5)
        for handler in heard.values():
            assert names(handler.take()) == names_of(objects)
        for second in (2, 3):
            await asyncio.sleep(second + 0.5 - asyncio.get_running_loop().time())
            told = {name: handler.take() for name, handler in heard.items()}
            for changes in told.values():
                assert not changes or names(changes) == names_of(objects)
            resyncs[f"t={second}"] = [name for name, changes in told.items() if changes]

    assert resyncs == case["resyncs"]


def names_of(objects: Sequence[ConfigMap]) -> list[str]:
    return sorted(item.metadata.name for item in objects)


def test_TestResyncCheckPeriod() -> None:  # noqa: N802 - the recorded name
    case = CASES["TestResyncCheckPeriod"]
    plan = ResyncPlan[int](SECONDS[case["start"]])

    for number, add in enumerate(case["adds"]):
        wanted = SECONDS[str(add["period"])]
        got = plan.join(number, wanted, started=False, now=0.0)

        assert (plan.check_every, got) == (SECONDS[add["checkPeriod"]], wanted)


async def test_TestSharedInformerWatchDisruption() -> None:  # noqa: N802 - the recorded name
    case = CASES["TestSharedInformerWatchDisruption"]
    before = [pod(*text.split("@")) for text in case["initial"]]
    hidden = dict(text.split(" ")[0].split("@") for text in case["hiddenChanges"])
    versions = {item.metadata.name: item.metadata.resource_version for item in before} | hidden
    source = ScriptedSource(
        lists=[listing("2", *before), listing("4", *pods(versions))],
        watches=[[After(9.5), GONE], [Quiet.HEALTHY]],
    )
    informer = informer_of(source, resync_every=9)
    without, due = Heard(informer.store), Heard(informer.store)
    informer.add_handler(without, resync_every=0)
    informer.add_handler(due)

    async with informer:
        # The check after nine seconds opens the round of the one, and closes the other's.
        await asyncio.sleep(9.2)
        without.take()
        due.take()
        await asyncio.sleep(5)

    assert {
        "listener without resync": names(without.changes),
        "listener with resync due": names(due.changes),
    } == case["afterRelist"]


class Keyless:
    pass


@pytest.mark.parametrize("row", CASES["TestProcessDeltasInBatch"]["table"])
def test_TestProcessDeltasInBatch(row: dict[str, Any]) -> None:  # noqa: N802 - the recorded name
    objects: list[Any] = [
        Keyless() if number in row["failing"] else pod(f"pod-{number}")
        for number in range(row["deltas"])
    ]
    told: list[Change[Any]] = []
    updater: Updater[Any] = Updater(Store(), lambda changes, repeated: told.extend(changes))

    failure = ""
    try:
        updater.process([QueuedDelta(DeltaType.ADDED, item) for item in objects], False)
    except BatchFailed as error:
        failure = str(error)

    assert [objects.index(change.object) for change in told] == row["handlerSees"]
    assert row.get("errorContains", "") in failure
    assert bool(failure) == ("errorContains" in row)
