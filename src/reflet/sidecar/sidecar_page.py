"""The sidecar's page of itself: which key is which file of the folder, and when it was written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec import structs

from reflet.api.core.config import ConfigMap, Secret
from reflet.insight.page.page_document import (
    PageArrival,
    PageContainer,
    PageLink,
    PageState,
    PageWorkload,
    PodGroup,
    Sentence,
    page_id,
)
from reflet.resolution.objects import ConfigKind, ObjectKey
from reflet.sidecar.file_owners import Owner, OwnerTable
from reflet.sidecar.files.publishing import Unwritten
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.targets import SidecarObject, targets_of
from reflet.ui.agent_page import AgentPage

FILES: Final = "files"
_KINDS: Final[Mapping[str, ConfigKind]] = {"configmap": "ConfigMap", "secret": "Secret"}


class SidecarPage:
    """Shows on *page* what a sidecar with these settings does."""

    def __init__(self, page: AgentPage, settings: SidecarSettings) -> None:
        self._page = page
        self._settings = settings
        self._keys: dict[Owner, dict[str, str]] = {}

    def came(self, owner: Owner, found: SidecarObject | None) -> None:
        """An object has come, changed or, None, gone."""
        self._page.put_object(*_key(owner), found)
        if found is None:
            self._keys.pop(owner, None)
        else:
            self._keys[owner] = dict(self._paths(owner, found))

    def wrote(
        self, changed: Collection[str], table: OwnerTable, unwritten: Mapping[str, Unwritten]
    ) -> None:
        """These files have new contents; *unwritten* are those that could not be written."""
        for path in changed:
            claim = table.wanted(path)
            if claim is not None and path not in unwritten:
                self._page.wrote(_key(claim.owner), path)
        self._page.put_workload(
            PageWorkload(
                kind="Sidecar",
                namespace=",".join(self._settings.namespace),
                name=self._settings.folder.strip("/"),
                pods=(
                    PodGroup(
                        names=(),
                        count=1,
                        phase="writes files",
                        containers=(PageContainer(name=FILES),),
                    ),
                ),
                arrivals=tuple(self._arrivals(table, unwritten)),
                sentences=tuple(_sentences(unwritten)),
            )
        )

    def _arrivals(
        self, table: OwnerTable, unwritten: Mapping[str, Unwritten]
    ) -> Iterator[PageArrival]:
        for path in sorted(table):
            claim = table.wanted(path)
            if claim is None:
                continue
            state: PageState = "missing" if path in unwritten else "current"
            yield PageArrival(
                way="file",
                name=path,
                source=page_id(*_key(claim.owner)),
                key=self._keys.get(claim.owner, {}).get(path, ""),
                to=(PageLink(pods=0, container=FILES, state=state),),
            )

    def _paths(self, owner: Owner, found: SidecarObject) -> Iterator[tuple[str, str]]:
        """Yield every path that an object wants, with its key."""
        for one, key in _key_by_key(found):
            targets = targets_of(one, owner.kind, self._settings)
            for path in (*targets.contents, *targets.downloads):
                yield path, key


def _key_by_key(found: SidecarObject) -> Iterator[tuple[SidecarObject, str]]:
    match found:
        case Secret(data=data):
            for key, value in data.items():
                yield structs.replace(found, data={key: value}), key
        case ConfigMap(data=texts, binary_data=binary):
            for key, text in texts.items():
                yield structs.replace(found, data={key: text}, binary_data={}), key
            for key, value in binary.items():
                yield structs.replace(found, data={}, binary_data={key: value}), key


def _key(owner: Owner) -> ObjectKey:
    return _KINDS[owner.kind], owner.namespace, owner.name


def _sentences(unwritten: Mapping[str, Unwritten]) -> Iterator[Sentence]:
    for path, why in unwritten.items():
        yield Sentence(state="missing", title=f"{path} cannot be written", text=f"{why.why}.")
