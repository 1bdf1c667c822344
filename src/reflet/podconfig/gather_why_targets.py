"""What somebody asks ``why`` about, asked of a server: workloads, what they have made, and events.

Everything of a namespace or cluster is listed kind by kind; of one workload, only what its selector
selects; of one pod, the pod and its events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, NamedTuple

from reflet.api import resources
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Event
from reflet.api.core.workloads import CronJob, Deployment, ReplicationController
from reflet.api.options import ListOptions
from reflet.api.resources import Resource
from reflet.api.selectors.labels import LabelSelector
from reflet.client.client import Client
from reflet.client.rest import OnPage
from reflet.errors import ConfigurationError, Forbidden, ParseError, RefletError
from reflet.insight.custom_workloads import workload_in
from reflet.insight.why import needs
from reflet.insight.why.reasons import ObjectName
from reflet.podconfig.gather_objects import SERVER_FAILURES
from reflet.resolution.templates.custom_templates import no_template
from reflet.resolution.templates.templates import CustomWorkload, Workload, pod_resource

WARNINGS: Final = ListOptions(field_selector="type=Warning")

_MAKERS: Final = (
    *(resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS),
    *(resources.REPLICA_SETS, resources.REPLICATION_CONTROLLERS),
    *(resources.JOBS, resources.CRON_JOBS),
)


class WhyTarget(NamedTuple):
    """A type as it was typed, and the name of one object, or None for all of them."""

    type: str
    name: str | None = None


class Lists:
    """Lists of one server, in one namespace or all, and what could not be listed."""

    def __init__(
        self, cluster: Client, namespace: str | None, on_pages: Callable[[], OnPage] | None
    ) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self._on_pages = on_pages
        self._failures: dict[Resource, RefletError] = {}
        self._server_failures: list[RefletError] = []

    async def listed(
        self,
        kind: type[Any] | Resource,
        options: ListOptions = ListOptions(),
        *,
        metadata_only: bool = False,
    ) -> tuple[Any, ...] | None:
        """Return objects; None, and a note of it, when they may not be listed."""
        client: Any = self.cluster.resource(kind, namespace=self.namespace)
        if metadata_only:
            client = self.cluster.resource(kind, namespace=self.namespace, metadata_only=True)
        try:
            listing = await client.list(
                options, on_page=self._on_pages() if self._on_pages else None
            )
        except RefletError as error:
            self._failures[client.resource] = error
            self.note_failure(error)
            return None
        items: tuple[Any, ...] = listing.items
        return items

    def note_failure(self, error: RefletError) -> None:
        """Remember an error in which every other request would have ended too."""
        if isinstance(error, SERVER_FAILURES):
            self._server_failures.append(error)

    def raise_server_failure(self) -> None:
        """Raise the error in which every other request would have ended too."""
        for error in self._server_failures:
            raise error

    def raise_first_failure(self) -> None:
        """Raise the error of the first list that could not be had."""
        for error in self._failures.values():
            raise error

    def forget(self, resource: Resource) -> None:
        """Take back that something could not be listed: it was found out in another way."""
        self._failures.pop(resource, None)

    def unseen(self) -> frozenset[str]:
        """Return the kinds that could not be listed."""
        return frozenset(each.kind for each in self._failures)

    def left_out(self) -> tuple[str, ...]:
        """Say what was not looked at, and why."""
        return tuple(
            f"{each.plural}: forbidden, it takes list of {each.full_name}"
            if isinstance(error, Forbidden)
            else f"{each.plural}: {error}"
            for each, error in self._failures.items()
        )


class FirstLook(NamedTuple):
    """What was asked about, what it has made, and the warnings about all of it.

    ``targets`` are None for everything.
    """

    workloads: Sequence[Workload]
    pods: Sequence[Pod]
    events: Sequence[Event]
    targets: frozenset[ObjectName] | None = None


async def look_at_targets(
    lists: Lists, targets: Sequence[WhyTarget], selector: str = ""
) -> FirstLook:
    """Ask for *targets*, or for everything; *selector* leaves what has labels, or pods with them.

    Raises NotFound for a name that is not there, ConfigurationError for a type that makes no pods,
    and the first error when nothing could be listed or the server cannot be asked.
    """
    found = [(each, await _resource(lists.cluster, each)) for each in targets]
    if all(resource == resources.PODS and each.name is None for each, resource in found):
        everything = await _everything(lists)
        if not selector:
            return everything
        labels = LabelSelector.parse(selector)
        roots = needs.roots_with(labels, everything.workloads, everything.pods)
        return everything._replace(targets=roots)
    asked: dict[ObjectName, Pod | Workload] = {}
    for target, resource in found:
        for item in await _asked_for(lists, target, resource, selector):
            asked[ObjectName.of(item.kind, item.metadata)] = item
    return await _below(lists, asked)


async def _resource(cluster: Client, target: WhyTarget) -> Resource:
    try:
        resources.find(target.type)
    except ParseError:
        try:
            return await cluster.find(target.type)
        except ParseError as error:
            raise ConfigurationError(str(error)) from error
    return pod_resource(target.type)


async def _everything(lists: Lists) -> FirstLook:
    kinds = (resources.PODS, *_MAKERS)
    answers = await _at_once(
        lists, *(lists.listed(each) for each in kinds), lists.listed(Event, WARNINGS)
    )
    pods, *makers, events = answers
    if pods is None and all(each is None for each in makers):
        lists.raise_first_failure()
    return FirstLook([each for found in makers for each in found or ()], pods or (), events or ())


async def _asked_for(
    lists: Lists, target: WhyTarget, resource: Resource, selector: str
) -> list[Pod | Workload]:
    is_custom = resource not in resources.BUILT_IN
    client: Any = lists.cluster.resource(resource, namespace=lists.namespace)
    if is_custom:
        client = lists.cluster.resource(resource, namespace=lists.namespace, raw=True)
    if target.name is None:
        items = (await client.list(ListOptions(label_selector=selector))).items
    else:
        items = (await client.get(target.name),)
    if not is_custom:
        return list(items)
    workloads = [workload_in(item) for item in items]
    if items and not any(workloads):
        raise ConfigurationError(no_template(items[0]))
    return [each for each in workloads if each is not None]


async def _below(lists: Lists, asked: dict[ObjectName, Pod | Workload]) -> FirstLook:
    """Ask for what some objects have made, and for the events of all of it."""
    pods = [each for each in asked.values() if isinstance(each, Pod)]
    workloads = [each for each in asked.values() if not isinstance(each, Pod)]
    targets = frozenset(asked)
    if not workloads:
        options = _events_of(pods[0]) if len(pods) == 1 else WARNINGS
        (events,) = await _at_once(lists, lists.listed(Event, options))
        return FirstLook((), pods, events or (), targets)
    options = ListOptions(label_selector=_common_selector(workloads))
    work = [lists.listed(Event, WARNINGS), lists.listed(resources.PODS, options)]
    if any(isinstance(each, Deployment | CustomWorkload) for each in workloads):
        work.append(lists.listed(resources.REPLICA_SETS, options))
    if any(isinstance(each, CronJob) for each in workloads):
        work.append(lists.listed(resources.JOBS))
    events, more_pods, *makers = await _at_once(lists, *work)
    return FirstLook(
        [*_each_once((*workloads, *(each for found in makers for each in found or ())))],
        [*_each_once((*pods, *(more_pods or ())))],
        events or (),
        targets,
    )


def _each_once(items: Iterable[Any]) -> Iterable[Any]:
    return {ObjectName.of(each.kind, each.metadata): each for each in items}.values()


def _events_of(pod: Pod) -> ListOptions:
    name = pod.metadata.name
    return ListOptions(field_selector=f"involvedObject.kind=Pod,involvedObject.name={name}")


def _common_selector(workloads: Sequence[Workload]) -> str:
    """Return what selects the pods of a lone workload; empty, for all pods, of several."""
    if len(workloads) != 1:
        return ""
    (workload,) = workloads
    if isinstance(workload, CronJob | CustomWorkload):
        return ""
    if isinstance(workload, ReplicationController):
        return str(LabelSelector.from_label_selector(workload.spec.selector))
    selector = workload.spec.selector
    if selector is None:
        return ""
    found = LabelSelector.from_label_selector(selector.match_labels, selector.match_expressions)
    return str(found)


async def _at_once(
    lists: Lists, *work: Coroutine[Any, Any, tuple[Any, ...] | None]
) -> list[tuple[Any, ...] | None]:
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(each, name="list for why") for each in work]
    lists.raise_server_failure()
    return [each.result() for each in running]
