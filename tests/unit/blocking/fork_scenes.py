"""Programs that fork after they have opened something; each runs in a process of its own.

Owns: what parent and child do, and what they say of it, as JSON.  Must not know what is expected.
"""

from __future__ import annotations

import asyncio
import atexit
import inspect
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.blocking.cluster import BlockingCluster
from reflet.blocking.loop_thread import LoopThread
from reflet.blocking.managers import BlockingManager
from reflet.blocking.mirror import BlockingMirror
from reflet.blocking.resource import BlockingResource
from reflet.informer.handlers.changes import Change
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.interface import Request
from tests.served_objects import ServedObjects
from tests.unit.blocking.cluster_scenes import SETTINGS, ScriptedCluster
from tests.unit.blocking.test_managers import manager_of
from tests.unit.blocking.test_mirror import A1, PATIENCE, mirror_of
from tests.unit.client.scripted_transport import ok
from tests.unit.managers.pods import pod
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

ROOT = Path(__file__).parents[3]


def said_by(scene: Callable[..., None]) -> list[Any]:
    """Run a scene in a process of its own; what it says, line by line.

    A complaint of Python's, about something that was not closed for one, counts as said.
    """
    # From Python 3.12 on every fork of a process with threads is told of.
    options = ["-X", "dev", "-W", "ignore::DeprecationWarning"]
    command = [sys.executable, *options, "-m", __name__, scene.__name__]
    ran = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    return [*map(json.loads, ran.stdout.splitlines()), *_complaints(ran.stderr)]


def _complaints(text: str) -> Iterator[str]:
    slow = "Executing <"  # a busy machine, and no fault
    return (line for line in text.splitlines() if not line.startswith(slow))


def say(what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


def end_soon() -> None:
    """Let a process that hangs be ended, as nobody else would."""
    signal.alarm(int(PATIENCE))


def fork(in_child: Callable[[], None]) -> int:
    """Fork, and leave the child by way of ``sys.exit``; its exit code."""
    child = os.fork()
    if child == 0:
        end_soon()
        in_child()
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def outcome(use: Callable[[], object]) -> str:
    """What comes of it, of what it gives to be iterated or entered too."""
    try:
        result = use()
        if isinstance(result, Iterator):
            next(result)
        if isinstance(result, AbstractContextManager):
            result.__enter__()
    except Exception as error:  # noqa: BLE001 - this is what is asked
        return f"{type(error).__name__}: {error}"
    return repr(result)


def outcomes(subject: object, *special: str) -> dict[str, str]:
    """What comes of every public name of *subject*, and of the *special* ones."""
    kind = type(subject)
    names = [name for name, _ in inspect.getmembers(kind) if not name.startswith("_")]
    return {
        f"{kind.__name__}.{name}": outcome(lambda name=name: _used(subject, name))  # type: ignore[misc]  # the default binds it
        for name in (*names, *special)
    }


def _used(subject: object, name: str) -> object:
    used = getattr(subject, name)
    if not callable(used):
        return used
    needed = [
        each
        for each in inspect.signature(used).parameters.values()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    arguments = ["cm" for each in needed if each.kind is not each.KEYWORD_ONLY]
    options = {each.name: "cm" for each in needed if each.kind is each.KEYWORD_ONLY}
    return used(*arguments, **options)


def everything_is_used_in_the_child() -> None:
    loop = LoopThread("the loop")
    server = ServedObjects()
    server.put("shop", "a")
    scripted = ScriptedCluster(ok(SETTINGS))
    with (
        mirror_of(loop, A1) as mirror,
        manager_of(loop, server) as manager,
        BlockingCluster(scripted) as cluster,
    ):
        mirror.synced(timeout=PATIENCE)
        manager.register_pod(pod("web", "a"))
        manager.get("shop", "a")
        resource: BlockingResource[ConfigMap] = cluster.resource(ConfigMap)

        def use() -> None:
            reading = ("__getitem__", "__contains__", "__len__", "__iter__", "__repr__")
            say(
                outcomes(mirror, *reading)
                | outcomes(manager, "__repr__")
                | outcomes(resource)
                | outcomes(cluster)
            )

        exit_code = fork(use)
        answers = (
            mirror["a"].metadata.name,
            str(mirror.is_live()),
            manager.get("shop", "a").metadata.name,
            resource.get("settings").metadata.name,
        )
        say({"exit code": exit_code, "parent": answers})
    loop.stop()


def a_worker_ends_as_the_documentation_opens_it() -> None:
    opened = ExitStack()
    atexit.register(opened.close)
    loop = LoopThread("the loop")
    opened.callback(loop.stop)
    mirror: BlockingMirror[ConfigMap] = opened.enter_context(mirror_of(loop, A1))
    manager: BlockingManager[ConfigMap] = opened.enter_context(manager_of(loop, ServedObjects()))
    called, go_on = threading.Event(), threading.Event()

    def handler(change: Change[ConfigMap]) -> None:
        called.set()
        go_on.wait(PATIENCE)

    mirror.add_handler(handler)
    called.wait(PATIENCE)  # so that a thread of the mirror is busy when it is lost
    changes, objects = mirror.changes(), manager.subscribe()
    next(changes)

    exit_code = fork(lambda: None)
    go_on.set()
    del changes, objects
    say({"exit code": exit_code, "parent": mirror["a"].metadata.name})


def a_process_of_multiprocessing() -> None:
    loop = LoopThread("the loop")
    with mirror_of(loop, A1) as mirror:
        mirror.synced(timeout=PATIENCE)

        def target() -> None:
            end_soon()
            say(outcome(lambda: mirror["a"]))

        process = multiprocessing.get_context("fork").Process(target=target)
        process.start()
        process.join()
        say({"exit code": process.exitcode})
    loop.stop()


def the_child_opens_its_own_and_forks_again() -> None:
    before = LoopThread("the loop")

    def open_again() -> None:
        loop = LoopThread("the loop")
        with mirror_of(loop, A1) as mirror:
            mirror.synced(timeout=PATIENCE)
            say(mirror["a"].metadata.name)
            say(str(mirror.is_live()))

            def use_both() -> None:
                say(outcome(lambda: lost["a"]))
                say(outcome(lambda: mirror["a"]))

            fork(use_both)
        loop.stop()

    with mirror_of(before, A1) as lost:
        fork(open_again)
    before.stop()


def a_loop_goes_on_in_the_child() -> None:
    async def answering(peer: Http1Peer) -> None:
        while True:
            await peer.request()
            peer.answer(b"ok")

    loop = LoopThread("server")
    with loop.entered(Http1Server(answering)) as server, asyncio.Runner() as runner:
        connection = Connection(ConnectionSettings(server=server.url))
        request = Request(path="/version")
        runner.run(connection.send(request))

        def use() -> None:
            say(outcome(lambda: runner.run(connection.send(request))))
            os._exit(0)  # a loop that was opened before the fork cannot be closed in the child

        fork(use)
        say(runner.run(connection.send(request)).body.decode())
        runner.run(connection.close())
    loop.stop()


if __name__ == "__main__":
    end_soon()
    globals()[sys.argv[1]]()
