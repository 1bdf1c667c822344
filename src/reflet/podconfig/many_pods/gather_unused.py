"""Every ConfigMap and Secret, and what their possible users name: of a server, or of files.

Lists are read page by page, and of each page only what is needed is kept.  Custom kinds that the
reference table does not have are looked into if their definition says that they may name a
ConfigMap or Secret.  What may not be listed is left out, and said so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from reflet.api import codec, resources
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.options import ListOptions
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes
from reflet.client.client import Client
from reflet.client.rest import OnPage
from reflet.errors import DecodeError, RefletError
from reflet.insight.custom_workloads import workload_in
from reflet.insight.reference_table import Row, has_rows, may_name
from reflet.insight.unused import StoredConfig, UsersSeen, stored_config
from reflet.manifests.applying import read_applied
from reflet.manifests.files import Sources, SourceText
from reflet.podconfig.gather_files import FILES_NAMESPACE, OnFile
from reflet.podconfig.gather_objects import NO_HELM_RELEASES, SERVER_FAILURES
from reflet.podconfig.gather_users import PODS_AND_THEIR_MAKERS, kinds_to_list
from reflet.podconfig.many_pods.gather_staleness import RUNNING
from reflet.resolution.templates.templates import WORKLOADS

DEFINITIONS_IN_A_PAGE: Final = 50  # they are large
# A field whose name says so, or one that may hold anything.
_COULD_NAME: Final = re.compile(
    rb'"\w*(?:[Ss]ecret|[Cc]onfigMap|[Cc]onfigmap)\w*":\s*\{'
    rb'|"x-kubernetes-preserve-unknown-fields":\s*true'
)


@dataclass(slots=True, kw_only=True)
class Inventory:
    """The objects that exist, what their users name, and what was not looked at.

    ``by_usual_names`` are custom kinds that the reference table does not have, and how many of
    their objects were looked into.
    """

    namespace: str
    objects: list[StoredConfig] = field(default_factory=list)
    seen: UsersSeen = field(default_factory=lambda: UsersSeen(()))
    users: int = 0
    by_usual_names: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


async def take_inventory(
    cluster: Client,
    *,
    everywhere: bool,
    rows: Iterable[Row] | None = None,
    on_pages: Callable[[], OnPage] | None = None,
) -> Inventory:
    """List everything that is used or may use it, in the namespace or in all.

    Raises Forbidden when neither ConfigMaps nor Secrets may be listed, and the error of a server
    that cannot be asked.
    """
    listing = _Listing(cluster, everywhere, on_pages)
    await listing.objects()
    found = listing.found
    found.seen = UsersSeen((each.name for each in found.objects), rows)
    await listing.users()
    if not everywhere:
        found.notes.append("users in other namespaces were not looked for: -A looks for them, too")
    return found


class _Listing:
    def __init__(
        self, cluster: Client, everywhere: bool, on_pages: Callable[[], OnPage] | None
    ) -> None:
        self._cluster = cluster
        self._namespace = ALL_NAMESPACES if everywhere else None
        self._on_pages = on_pages
        self.found = Inventory(namespace=cluster.namespace)

    async def objects(self) -> None:
        failures: list[RefletError] = []

        async def read(kind: type[ConfigMap | Secret], options: ListOptions) -> None:
            client = self._cluster.resource(kind, namespace=self._namespace)
            try:
                listed = await client.list_as(stored_config, options, on_page=self._on_page())
                self.found.objects += listed.items
            except RefletError as error:
                failures.append(error)
                self._left_out(client.resource, error)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read(ConfigMap, ListOptions()), name="list ConfigMaps")
            no_helm = ListOptions(field_selector=NO_HELM_RELEASES)
            tasks.create_task(read(Secret, no_helm), name="list Secrets")
        for error in failures:
            if isinstance(error, SERVER_FAILURES) or len(failures) == 2:
                raise error
        self.found.objects.sort(key=_rank)

    async def users(self) -> None:
        known, notes = await kinds_to_list(self._cluster, "ConfigMap", "Secret")
        self.found.notes += notes
        others = await self._kinds_that_could_name(known)
        failures: dict[Resource, RefletError] = {}

        async def read(resource: Resource) -> None:
            try:
                await self._look_through(resource)
            except RefletError as error:
                failures[resource] = error

        async with asyncio.TaskGroup() as tasks:
            for resource in (*known, *others):
                tasks.create_task(read(resource), name=f"list {resource}")
        for resource, error in failures.items():
            if isinstance(error, SERVER_FAILURES):
                raise error
            self._left_out(resource, error)

    async def _look_through(self, resource: Resource) -> None:
        raw = resource not in PODS_AND_THEIR_MAKERS
        client: Any = self._cluster.resource(resource, namespace=self._namespace, raw=raw)
        options = ListOptions(field_selector=RUNNING if resource == resources.PODS else "")
        await client.list_as(self._see, options, on_page=self._on_page())

    def _see(self, item: Any) -> None:
        self.found.users += 1
        seen = self.found.seen
        if isinstance(item, Pod):
            seen.see_pod(item)
        elif isinstance(item, WORKLOADS):
            seen.see_workload(item)
        else:
            see_any(self.found, item)

    async def _kinds_that_could_name(self, known: Sequence[Resource]) -> list[Resource]:
        """Return the custom kinds whose definitions have a place for a name."""
        client = self._cluster.resource(resources.CUSTOM_RESOURCE_DEFINITIONS, raw=True)
        looked = {(each.group, each.kind) for each in known}
        try:
            served = {
                (each.group, each.kind): each
                for each in reversed(await self._cluster.resources())
                if not belongs_to_kubernetes(each.group)
            }
            listed = await client.list_as(_names_something, page_size=DEFINITIONS_IN_A_PAGE)
        except SERVER_FAILURES:
            raise
        except RefletError as error:
            self.found.notes.append(
                f"custom kinds that the reference table does not have are left out: {error}"
            )
            return []
        wanted = [name for name in listed.items if name is not None and name not in looked]
        return [served[name] for name in wanted if name in served]

    def _left_out(self, resource: Resource, error: RefletError) -> None:
        self.found.notes.append(f"{resource} could not be listed, so they are left out: {error}")

    def _on_page(self) -> OnPage | None:
        return self._on_pages() if self._on_pages is not None else None


def _rank(item: StoredConfig) -> tuple[str, str, str]:
    return item.namespace, item.kind, item.name


def see_any(found: Inventory, item: AnyObject) -> None:
    """Take an object of any kind; templates of pods in it count as a workload's."""
    found.seen.see_object(item)
    if not has_rows(item.api_version, item.kind):
        found.by_usual_names[item.kind] = found.by_usual_names.get(item.kind, 0) + 1
    try:
        workload = workload_in(item)
    except DecodeError as error:
        found.notes.append(str(error))
    else:
        if workload is not None:
            found.seen.see_workload(workload)


def _names_something(definition: AnyObject) -> tuple[str, str] | None:
    if not _COULD_NAME.search(definition.to_json()):
        return None
    names = definition.spec.get("names") or {}
    return str(definition.spec.get("group")), str(names.get("kind"))


def inventory_of_files(
    sources: Sources,
    *,
    namespace: str = "",
    rows: Iterable[Row] | None = None,
    on_file: OnFile | None = None,
) -> Inventory:
    """Take the objects of files for everything that there is."""

    def read(_: SourceText) -> None:
        if on_file is not None:
            on_file(1)

    applied = read_applied(sources, namespace=namespace or FILES_NAMESPACE, on_text=read)
    found = Inventory(namespace=namespace or FILES_NAMESPACE)
    there: list[ConfigMap | Secret] = [*applied.config_maps(), *applied.secrets()]
    stored = (stored_config(item) for item in there)
    found.objects = sorted(
        (each for each in stored if not namespace or each.namespace == namespace), key=_rank
    )
    found.seen = UsersSeen((each.name for each in found.objects), rows)
    for pod in applied.pods():
        found.seen.see_pod(pod)
    for workload in applied.workloads():
        found.seen.see_workload(workload)
    accounts = (AnyObject(codec.encode(account)) for account in applied.service_accounts())
    others = [*accounts, *(o for o in applied.untyped() if may_name(o.api_version, o.kind))]
    for item in others:
        see_any(found, item)
    for service in applied.services():
        # Its selectors name no objects, but its annotations may ask for a certificate.
        found.seen.see_maker(AnyObject(codec.encode(service)))
    found.users = len(applied.pods()) + len(applied.workloads()) + len(others)
    found.notes += (f"{refusal}; so it is left out" for refusal in applied.refusals)
    return found
