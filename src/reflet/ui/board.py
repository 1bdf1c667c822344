"""The facts of a page, and what they make of its document.

Pods, objects and deliveries come in, in whatever order they are seen; ``refresh`` computes again
what they may have changed, and says what is different for whoever shows it.  Does no I/O: mirrors,
files and agents fill it.  Objects have gone through ``briefs``, pods through ``brief_pod``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.errors import RefletError
from reflet.insight.page.brief_objects import BriefObjects, BriefPods
from reflet.insight.page.page_document import (
    PageChange,
    PageDocument,
    PageEdit,
    PageKind,
    PageSource,
    PageWorkload,
    page_id,
    seconds,
)
from reflet.insight.page.page_edits import MOST_EDITS, DeliveryTime, SeenEdit, edit_of, edit_page
from reflet.insight.page.page_uses import UsesOfPods, object_keys
from reflet.insight.page.workload_page import PageOwner, workload_of, workload_page
from reflet.insight.stale.object_history import ObjectHistory, history_of, never_seen, observed
from reflet.resolution.objects import ConfigKind, ObjectKey


class _Histories(dict[ObjectKey, "ObjectHistory | RefletError"]):
    """What is known of objects; of a kind that may not be read, its refusal."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: dict[tuple[str, str], RefletError] = {}

    def get(self, key: ObjectKey, default: object = None) -> ObjectHistory | RefletError | None:  # type: ignore[override]  # narrower: nobody gives a default
        found = super().get(key)
        if found is not None or default is not None:
            return found
        kind, namespace, _ = key
        return self.refusals.get((kind, namespace)) or self.refusals.get((kind, ""))


class Board:
    """The page of *title*; *began* is when it began to be filled.

    *salt* is random: digests of values are made with it.
    """

    def __init__(self, title: str, kind: PageKind, *, salt: bytes, began: datetime) -> None:
        self.title = title
        self.kind = kind
        self.briefs = BriefObjects(salt)
        self.brief_pod = BriefPods()
        self._salt = salt
        self._began = began
        self._notes: dict[str, str] = {}
        self._histories = _Histories()
        self._pods: dict[str, PageOwner] = {}
        self._given: dict[PageOwner, PageWorkload] = {}
        self._by_workload: dict[PageOwner, dict[str, Pod]] = {}
        self._users: dict[ObjectKey, set[PageOwner]] = {}
        self._used: dict[PageOwner, frozenset[ObjectKey]] = {}
        self._facts: dict[ObjectKey, PageSource] = {}
        self._written: dict[tuple[str, ObjectKey], datetime] = {}
        self._edits: deque[SeenEdit] = deque(maxlen=MOST_EDITS)
        self._sources: dict[str, PageSource] = {}
        self._workloads: dict[str, PageWorkload] = {}
        self._shown_edits: tuple[PageEdit, ...] = ()
        self._shown_notes: tuple[str, ...] = ()
        self._dirty: set[PageOwner] = set()
        self._touched: set[ObjectKey] = set()
        self._moving: set[PageOwner] = set()

    # What is seen

    def put_pod(self, key: str, pod: Pod, *, of: PageOwner | None = None) -> None:
        """A pod is there, or has changed; *of* says whose it is where the pod does not."""
        name = of or workload_of(pod)
        self.drop_pod(key, unless=name)
        self._pods[key] = name
        self._by_workload.setdefault(name, {})[key] = pod
        self._dirty.add(name)

    def drop_pod(self, key: str, *, unless: PageOwner | None = None) -> None:
        """A pod is gone."""
        name = self._pods.get(key)
        if name is None or name == unless:
            return
        del self._pods[key]
        pod = self._by_workload[name].pop(key)
        for each in [each for each in self._written if each[0] == pod.metadata.uid]:
            del self._written[each]
        self._dirty.add(name)

    def put_workload(self, page: PageWorkload) -> None:
        """A workload of which somebody knows what arrives there: it is not computed."""
        name = PageOwner(page.kind, page.namespace, page.name)
        self._given[name] = page
        self._dirty.add(name)

    def put_object(self, item: AnyObject, *, at: datetime) -> None:
        """An object was there when somebody began to look on, at *at*."""
        key = _key(item)
        history = history_of(item, since=at)
        self._histories[key] = history
        self._touch(key)
        write = max(history.writes, key=lambda each: each.at, default=None)
        self._facts[key] = structs.replace(
            self._source(item),
            edited=seconds(history.created if write is None else write.at),
            by="" if write is None else write.manager,
        )

    def change_object(
        self,
        kind: ConfigKind,
        namespace: str,
        name: str,
        old: AnyObject | None,
        new: AnyObject | None,
        *,
        at: datetime,
        cached: float | None = None,
        late: bool = False,
    ) -> None:
        """An object was seen to change, to come or to go.

        *cached* is how many milliseconds after the event that was in memory, None where it was not
        measured; *late* says that the watch was interrupted, so that it may have been long ago.
        """
        key: ObjectKey = (kind, namespace, name)
        history = self._histories.get(key)
        if not isinstance(history, ObjectHistory):
            history = never_seen(kind, namespace, name, since=self._began)
        seen = observed(history, old, new, at=at, salt=self._salt, late=late)
        known = set(map(id, history.changes))  # the oldest may be forgotten
        changes = tuple(each for each in seen.changes if id(each) not in known)
        self._histories[key] = seen
        if new is None:
            self._facts.pop(key, None)
        elif changes or old is None or seen.immutable != history.immutable:
            by = next((change.by for change in changes if change.by), "")
            self._facts[key] = structs.replace(self._source(new), edited=seconds(at), by=by)
        else:
            return  # a label, or a lock that is renewed: nothing that a pod gets
        self._touch(key)
        if changes:
            edit = edit_of(page_id(*key), changes, at=at, cached=cached)
            self._edits.appendleft(edit)

    def refuse(self, kind: ConfigKind, namespace: str, why: RefletError) -> None:
        """Objects of a kind cannot be read: in one namespace, or, if it is empty, in any."""
        self._histories.refusals[kind, namespace] = why
        where = f" in {namespace}" if namespace else ""
        self._notes[f"{kind}/{namespace}"] = f"{kind}s{where} cannot be read: {why}"
        self._look_again(kind)

    def allow(self, kind: ConfigKind, namespace: str) -> None:
        """They can be read after all."""
        if self._histories.refusals.pop((kind, namespace), None) is not None:
            self._notes.pop(f"{kind}/{namespace}", None)
            self._look_again(kind)

    def note(self, about: str, words: str) -> None:
        """Say something above the page, for what was said about the same; empty for nothing."""
        if words:
            self._notes[about] = words
        else:
            self._notes.pop(about, None)

    def delivered(self, pod: Pod, key: ObjectKey, what: str, *, at: datetime) -> None:
        """An agent wrote the files that a pod has of an object."""
        self._written[pod.metadata.uid, key] = at
        self._dirty.update(self._users.get(key, ()))
        self.wrote(key, what, at=at)

    def wrote(self, key: ObjectKey, what: str, *, at: datetime) -> None:
        """Somebody wrote files of an object: so far its last edit has come."""
        source = page_id(*key)
        for index, edit in enumerate(self._edits):
            if edit.source == source:
                took = (at - edit.at).total_seconds() * 1000
                files = (*edit.files, DeliveryTime(what=what, milliseconds=max(0.0, took)))
                self._edits[index] = structs.replace(edit, files=files)
                return

    # What follows

    def document(self, now: datetime) -> PageDocument:
        """Return all of the page, as it was refreshed last."""
        return PageDocument(
            title=self.title,
            kind=self.kind,
            began=seconds(self._began) or 0.0,
            now=seconds(now) or 0.0,
            notes=self._shown_notes,
            sources=dict(self._sources),
            workloads=dict(self._workloads),
            edits=self._shown_edits,
        )

    def refresh(self, now: datetime) -> PageChange | None:
        """Compute again what may be different; return what is, None when nothing is."""
        workloads = self._refreshed_workloads(now)
        sources = self._refreshed_sources()
        edits: tuple[PageEdit, ...] | msgspec.UnsetType = msgspec.UNSET
        shown = tuple(edit_page(edit, self._using(edit.source)) for edit in self._edits)
        if shown != self._shown_edits:
            self._shown_edits = edits = shown
        notes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
        if tuple(self._notes.values()) != self._shown_notes:
            self._shown_notes = notes = tuple(self._notes.values())
        if not workloads and not sources and edits is msgspec.UNSET and notes is msgspec.UNSET:
            return None
        return PageChange(
            now=seconds(now) or 0.0, sources=sources, workloads=workloads, notes=notes, edits=edits
        )

    def _using(self, source: str) -> Iterator[PageWorkload]:
        """Yield the workloads that use an object."""
        for user in self._users.get(_object_key(source), ()):
            page = self._workloads.get(page_id(*user))
            if page is not None:
                yield page

    def _refreshed_workloads(self, now: datetime) -> Mapping[str, PageWorkload | None]:
        uses = UsesOfPods(self._histories, now=now, written=self._written)
        # What is on its way arrives without a word: time alone tells.
        dirty, self._dirty = self._dirty | self._moving, set()
        changed: dict[str, PageWorkload | None] = {}
        for name in dirty:
            pods = self._by_workload.get(name, {})
            given = self._given.get(name)
            self._note_users(name, _objects_of(pods, given))
            page = given or workload_page(name, pods.values(), uses)
            if not pods:
                self._by_workload.pop(name, None)
            moves = page is not None and any(
                link.state == "on-its-way" for each in page.arrivals for link in each.to
            )
            (self._moving.add if moves else self._moving.discard)(name)
            key = page_id(*name)
            if page == self._workloads.get(key):
                continue
            changed[key] = page
            if page is None:
                del self._workloads[key]
            else:
                self._workloads[key] = page
        return changed

    def _note_users(self, name: PageOwner, used: frozenset[ObjectKey]) -> None:
        before = self._used.pop(name, frozenset())
        for key in before - used:
            self._users[key].discard(name)
            self._touched.add(key)
        for key in used - before:
            self._users.setdefault(key, set()).add(name)
            self._touched.add(key)
        if used:
            self._used[name] = used

    def _refreshed_sources(self) -> Mapping[str, PageSource | None]:
        touched, self._touched = self._touched, set()
        changed: dict[str, PageSource | None] = {}
        for key in touched:
            page = self._facts.get(key)
            if page is None and self._users.get(key):
                page = self._absent(key)
            elif page is None:
                self._users.pop(key, None)
                self._histories.pop(key, None)  # nobody can ask any more
            name = page_id(*key)
            if page == self._sources.get(name):
                continue
            changed[name] = page
            if page is None:
                del self._sources[name]
            else:
                self._sources[name] = page
        return changed

    def _absent(self, key: ObjectKey) -> PageSource:
        kind, namespace, name = key
        is_refused = isinstance(self._histories.get(key), RefletError)
        return PageSource(
            kind=kind,
            namespace=namespace,
            name=name,
            keys=(),
            status="unread" if is_refused else "missing",
        )

    def _source(self, item: AnyObject) -> PageSource:
        metadata = item.metadata
        return PageSource(
            kind=item.kind,
            namespace=metadata.namespace,
            name=metadata.name,
            keys=self.briefs.keys_of(item),
            version=metadata.resource_version,
            immutable=bool(item.get("immutable")),
        )

    def _look_again(self, kind: ConfigKind) -> None:
        self._dirty.update(self._by_workload)
        self._touched.update(key for key in self._users if key[0] == kind)

    def _touch(self, key: ObjectKey) -> None:
        self._touched.add(key)
        self._dirty.update(self._users.get(key, ()))


def _key(item: AnyObject) -> ObjectKey:
    kind: ConfigKind = "Secret" if item.kind == "Secret" else "ConfigMap"
    return kind, item.metadata.namespace, item.metadata.name


def _object_key(source: str) -> ObjectKey:
    kind, namespace, name = source.split("/", 2)
    return "Secret" if kind == "Secret" else "ConfigMap", namespace, name


def _objects_of(pods: Mapping[str, Pod], given: PageWorkload | None) -> frozenset[ObjectKey]:
    """Return the objects that pods name, those with one spec looked at once."""
    if given is not None:
        return frozenset(_object_key(each.source) for each in given.arrivals)
    specs = {id(pod.spec): pod for pod in pods.values()}
    return frozenset(key for pod in specs.values() for key in object_keys(pod))
