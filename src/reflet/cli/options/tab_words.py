"""Words that Tab offers and that only a server, a kubeconfig or files know.

Whatever has to be asked is asked by a child process, which has a second for all of it and no
terminal.  A server that is away, a kubeconfig that is broken or a plugin that wants a password
then cost a second at most, and are never heard of: there is just nothing to offer.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from reflet.cli import lazy

if TYPE_CHECKING:
    from reflet.api.resources import Resource
    from reflet.cluster import Cluster
    from reflet.transport.config.kubeconfig import Overrides

Types = Literal["any", "pods", "workloads", "configuration"]
"""Which types a command is about: all, a pod or what makes it, several of these, configuration."""
_OF_PODS: Final = frozenset({"pods", "workloads"})
Section = Literal["contexts", "clusters", "users"]

PATIENCE: Final = 1.0  # seconds for everything that one Tab asks
PATIENCE_VARIABLE: Final = "REFLET_COMPLETION_TIMEOUT"
"""For those whose server is far away."""
# A child that is killed leaves behind what it has started, a login program above all: it gives up
# by itself before that, and is killed only where it cannot, as while a server's name is looked up.
GIVES_UP_AFTER: Final = 0.8  # of its time
MOST_NAMES: Final = 500
STANDARD_INPUT: Final = "-"  # is read once, and not by Tab

# A shell puts a word into the line as it is: nothing that means something to it is offered.
_HARMLESS: Final = re.compile(r"[A-Za-z0-9._:/@%+=,~-]+")

Ask = Callable[[float], list[str]]
"""A question; it is given the moment, of the monotonic clock, at which to give up."""
Parameters = Mapping[str, Any]
"""What was typed before, by the names of click's parameters."""


def object_words(
    types: Types, typed: Parameters, before: Sequence[str], unfinished: str
) -> list[str]:
    """How the last of the words that name objects may go on: ``TYPE NAME``, ``TYPE/NAME``."""
    if "/" in unfinished:
        kind, _, begin = unfinished.partition("/")
        names = _matching(_answered(partial(_names, typed, kind)), begin)
        return [f"{kind}/{name}" for name in names]
    several = types in {"any", "workloads"}
    if before and "/" not in before[0]:
        if "," in before[0] or (len(before) > 1 and not several):
            return []
        names = _answered(partial(_names, typed, before[0]))
        return [name for name in _matching(names, unfinished) if name not in before]
    if before and not several:
        return []
    head, comma, begin = unfinished.rpartition(",") if several else ("", "", unfinished)
    built_in = _type_words(types)
    asked: list[str] = []
    if types in _OF_PODS and not before:
        asked = _answered(partial(_names, typed, "pods"))
    elif types == "any":
        asked = _answered(partial(_served, typed))
    words = _matching([*built_in, *asked], begin)
    if not words and begin in _short_names(types):
        words = [begin]
    end = "/" if before else ""  # every word has a slash, or none
    return [f"{head}{comma}{word}{end}" for word in words]


def namespace_words(typed: Parameters, unfinished: str) -> list[str]:
    """The namespaces that begin so."""
    without = {**typed, "namespace": "", "paths": ()}
    return _matching(_answered(partial(_names, without, "namespaces")), unfinished)


def kubeconfig_words(section: Section, typed: Parameters, unfinished: str) -> list[str]:
    """The names of contexts, clusters or users in the kubeconfig files that begin so."""
    return _matching(_answered(partial(_entries, section, typed)), unfinished)


def _matching(words: Iterable[str], begin: str) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(begin)]


# Types


def _type_words(types: Types) -> list[str]:
    """The built-in types, each by its plural, with its group where another has that plural."""
    return sorted(_short_words(_built_in(types)))


def _built_in(types: Types) -> list[Resource]:
    resources = lazy.resources
    if types == "configuration":
        return [resources.CONFIG_MAPS, resources.SECRETS]
    if types in _OF_PODS:
        kinds = lazy.templates.POD_KINDS
        return [resource for resource in resources.BUILT_IN if resource.kind in kinds]
    return list(resources.BUILT_IN)


def _short_words(resources: Iterable[Resource]) -> dict[str, Resource]:
    words: dict[str, Resource] = {}
    for resource in resources:
        known = words.setdefault(resource.plural, resource)
        if known.group != resource.group:
            words[resource.full_name] = resource
    return words


def _short_names(types: Types) -> set[str]:
    return {name for resource in _built_in(types) for name in resource.names()}


# What the child process does


def _served(typed: Parameters, until: float) -> list[str]:
    async def ask(cluster: Cluster) -> list[str]:
        return sorted(_short_words((*lazy.resources.BUILT_IN, *await cluster.resources())))

    return _asked(typed, until, ask)


def _names(typed: Parameters, kind: str, until: float) -> list[str]:
    files = typed.get("paths") or ()
    if files:
        paths = [os.path.expanduser(path) for path in files]  # noqa: PTH111 - texts, as typed
        return [] if STANDARD_INPUT in files else _names_in_files(paths, kind)

    async def ask(cluster: Cluster) -> list[str]:
        resource = await cluster.find(kind)
        options = lazy.options.ListOptions(limit=MOST_NAMES)
        table = await cluster.resource(resource, raw=True).table_page(options, only_cells=True)
        if table.kind != "Table":
            return []
        # The name is what kubectl shows first, for every kind.
        return [str(row.cells[0]) for row in table.rows if row.cells]

    return _asked(typed, until, ask)


def _names_in_files(files: Sequence[str], kind: str) -> list[str]:
    wanted = lazy.resources.find(kind).kind
    applied = lazy.applying.read_applied(files)
    return sorted(
        each.object.metadata.name for each in applied.objects if each.object.kind == wanted
    )


def _entries(section: Section, typed: Parameters, _until: float) -> list[str]:
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - see reflet.cluster.settings_from
    kubeconfig = lazy.kubeconfig
    paths = kubeconfig.kubeconfig_paths(_overrides(typed), os.environ, home)
    return sorted(getattr(kubeconfig.load(paths), section))


def _asked(
    typed: Parameters, until: float, ask: Callable[[Cluster], Awaitable[list[str]]]
) -> list[str]:
    async def run() -> list[str]:
        settings = lazy.cluster.settings_from(_overrides(typed))
        async with lazy.asyncio.timeout_at(until), lazy.cluster.Cluster(settings) as cluster:
            return await ask(cluster)

    return lazy.event_loop.run(run())


def _overrides(typed: Parameters) -> Overrides:
    known = {field.name for field in fields(lazy.kubeconfig.Overrides)}
    given = {name: value for name, value in typed.items() if name in known and value}
    if "kubeconfig" in given:  # nobody has put a folder in the place of ~ yet
        given["kubeconfig"] = os.path.expanduser(given["kubeconfig"])  # noqa: PTH111 - a text
    return lazy.kubeconfig.Overrides(**given)


# The child process


def _answered(ask: Ask) -> list[str]:
    """What *ask* gives in a process of its own; nothing when that fails or takes too long."""
    begun, patience = time.monotonic(), _patience()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _answer(partial(ask, begun + patience * GIVES_UP_AFTER), writing)
    os.close(writing)
    deadline = begun + patience
    text = b""
    complete = False
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while (
            not complete and select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]
        ):
            part = pipe.read(65536)
            complete = not part
            text += part
    if not complete:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    words = json.loads(text) if complete and text else []
    return [word for word in words if _HARMLESS.fullmatch(word)]


def _patience() -> float:
    try:
        return float(os.environ.get(PATIENCE_VARIABLE) or PATIENCE)
    except ValueError:
        return PATIENCE


def _answer(ask: Callable[[], list[str]], writing: int) -> NoReturn:
    try:
        os.setsid()  # and so without a terminal
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        words = ask()
        with os.fdopen(writing, "w") as pipe:
            json.dump(words, pipe)
    finally:
        os._exit(0)  # whatever happened: nothing of the parent's may be done a second time
