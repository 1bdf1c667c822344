"""Which objects name ConfigMaps and Secrets outside pod templates, and which make them.

The rows are data: ``data/references.json`` holds those of Kubernetes and of well-known operators,
read once in a process as code is; more come from a configuration file through ``row_from``.  What
containers name is ``resolution.references``' affair.

A path leads from the object to a name: ``name_paths``.  The namespace, key and kind of what is
named are members beside the name.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, cast, final

import msgspec

from reflet.api.frozen import Frozen
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes
from reflet.errors import ConfigurationError
from reflet.insight.name_paths import Found, is_path, may_lead_somewhere, member_names, texts_at
from reflet.resolution.objects import ConfigKind

_ANYBODYS: Final = ("*", "*")
# What Kubernetes made a random end of names from, as of tokens before 1.24.
_TOKEN: Final = re.compile(r".+-token-[bcdfghjklmnpqrstvwxz2456789]{5}")
_EVERYWHERE: Final = frozenset(
    {"kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt"}
)
_IN_ONE_NAMESPACE: Final = frozenset(
    {
        ("kube-system", "extension-apiserver-authentication"),
        ("kube-system", "kubeadm-config"),
        ("kube-public", "cluster-info"),
    }
)


@final
class Effect(enum.Enum):
    """What a change of the object takes until a user has it."""

    RESTART = "restart"
    LIVE = "live"
    NEXT_PULL = "next pull"
    NEXT_MOUNT = "next mount"
    UNMOUNTED = "not mounted"
    UNKNOWN = "unknown"


class Row(Frozen, frozen=True, kw_only=True):
    """Objects of some kinds name, or make, ConfigMaps or Secrets: where, and of what name.

    The name stands at one of ``paths``, or is ``name``, in which ``{name}`` is the object's own
    and ``*`` anything.  At one of ``when``, if given, something must stand, at ``unless`` nothing.
    ``namespace``, ``key`` and ``kind_at`` are members beside the name: without the first it is the
    object's own namespace, or ``in_namespace``.  ``kind_default`` is what the kind is where its
    member is absent.  ``everywhere``: in every namespace.  ``usage`` is how the use is called.
    ``*`` for group and kind: every kind that does not belong to Kubernetes.
    """

    group: str
    kinds: tuple[str, ...]
    names: ConfigKind
    paths: tuple[str, ...] = ()
    name: str = ""
    when: tuple[str, ...] = ()
    unless: str = ""
    namespace: str = ""
    in_namespace: str = ""
    everywhere: bool = False
    kind_at: str = ""
    kind_default: str = ""
    key: str = ""
    keys: tuple[str, ...] = ()
    usage: str = ""
    change: Effect = Effect.UNKNOWN
    project: str = ""


class NamedObject(Frozen, frozen=True, kw_only=True):
    """A ConfigMap or Secret that an object names, and where it does.

    ``keys`` are ``None`` where all may be used.  ``namespace`` is empty for one that is in every
    namespace.  A name that is made may hold ``*``.
    """

    kind: ConfigKind
    namespace: str
    name: str
    path: str
    keys: tuple[str, ...] | None = None
    effect: Effect = Effect.UNKNOWN
    usage: str = ""

    def matches(self, kind: str, namespace: str, name: str) -> bool:
        """Whether an object of that kind, namespace and name is meant."""
        there = not self.namespace or self.namespace == namespace
        return self.kind == kind and there and fnmatchcase(name, self.name)


class WorkloadKinds(Frozen, frozen=True, kw_only=True):
    """Kinds of a group whose objects hold pod templates, for whoever must ask for them by kind."""

    group: str
    kinds: tuple[str, ...]
    project: str = ""


class Tables(Frozen, frozen=True, kw_only=True):
    """The rows of references and of makers, and the kinds that are known to hold templates."""

    references: tuple[Row, ...] = ()
    makers: tuple[Row, ...] = ()
    workloads: tuple[WorkloadKinds, ...] = ()


@cache
def built_in() -> Tables:
    """Return the rows that come with the package."""
    # Not importlib.resources, which takes longer to import than this takes to read.
    import pkgutil  # noqa: PLC0415 - most commands have no need of the table

    data = pkgutil.get_data("reflet.insight", "data/references.json")
    tables: dict[str, list[dict[str, Any]]] = msgspec.json.decode(data or b"")
    holders = (msgspec.convert(each, WorkloadKinds) for each in tables["workloads"])
    return Tables(
        references=tuple(map(row_from, tables["references"])),
        makers=tuple(map(row_from, tables["makers"])),
        workloads=tuple(holders),
    )


def references_in(
    document: Mapping[str, Any], rows: Iterable[Row] | None = None
) -> Iterator[NamedObject]:
    """Yield every ConfigMap and Secret that an object names, inside pod templates too.

    The rows for every kind do not take a name that the object has made for a use of it.
    """
    every = _rows_for(document, "references") if rows is None else tuple(rows)
    looking = _Looking(document)
    yield from looking.by(row for row in every if row.group != "*")
    looking.leave_out(made_by(document))
    yield from looking.by(row for row in every if row.group == "*")


def made_by(
    document: Mapping[str, Any], rows: Iterable[Row] | None = None
) -> Iterator[NamedObject]:
    """Yield every ConfigMap and Secret that some controller makes because of an object."""
    yield from _Looking(document).by(_rows_for(document, "makers") if rows is None else rows)


def has_rows(api_version: str, kind: str) -> bool:
    """Whether the table says where objects of a kind name others, and not only the usual names."""
    return (api_version.rpartition("/")[0], kind) in _indexed("references")


def may_name(api_version: str, kind: str) -> bool:
    """Whether objects of a kind can name a ConfigMap or Secret: by a row, or by the usual names."""
    group = api_version.rpartition("/")[0]
    return has_rows(api_version, kind) or not belongs_to_kubernetes(group)


def kinds_that_name(names: ConfigKind) -> frozenset[tuple[str, str]]:
    """Return the groups and kinds whose objects may name a ConfigMap, or a Secret.

    Kinds that are known to hold pod templates are among them.
    """
    tables = built_in()
    rows = [row for row in tables.references if row.names == names and row.group != "*"]
    naming = {(row.group, kind) for row in rows for kind in row.kinds}
    return frozenset(
        naming | {(each.group, kind) for each in tables.workloads for kind in each.kinds}
    )


def always_there(kind: str, namespace: str, name: str) -> bool:
    """Whether Kubernetes, or what extends it, makes an object of that name by itself."""
    if kind == "ConfigMap":
        return name in _EVERYWHERE or (namespace, name) in _IN_ONE_NAMESPACE
    return kind == "Secret" and _TOKEN.fullmatch(name) is not None


def row_from(given: Mapping[str, Any]) -> Row:
    """Return the row that a mapping of a configuration file describes.

    ``kind`` and ``path`` may be one text or a list.  Raises ConfigurationError, which names the
    field that is wrong.
    """
    unknown = sorted(set(given) - _FIELDS)
    if unknown:
        raise ConfigurationError(
            f"{unknown[0]}: unknown field; there is {', '.join(sorted(_FIELDS))}"
        )
    for field in ("kind", "names"):
        if field not in given:
            raise ConfigurationError(f"{field}: missing")
    names = _text(given, "names")
    if names not in {"ConfigMap", "Secret"}:
        raise ConfigurationError(f"names: must be ConfigMap or Secret, not {names!r}")
    paths, name = _texts(given, "path"), _text(given, "name")
    if bool(paths) == bool(name):
        raise ConfigurationError("path: give it, or name, and not both")
    for field in ("path", "when", "unless"):
        for path in _texts(given, field):
            if not is_path(path):
                raise ConfigurationError(
                    f"{field}: {path!r} is no path such as spec.tls[].secretName"
                )
    change = _text(given, "change") or Effect.UNKNOWN.value
    if change not in {effect.value for effect in Effect}:
        raise ConfigurationError(
            f"change: must be one of {', '.join(effect.value for effect in Effect)}, not {change!r}"
        )
    everywhere = given.get("everywhere", False)
    if not isinstance(everywhere, bool):
        raise ConfigurationError("everywhere: must be true or false")
    return Row(
        group=_text(given, "group"),
        kinds=_texts(given, "kind"),
        names=cast("ConfigKind", names),
        paths=paths,
        name=name,
        when=_texts(given, "when"),
        unless=_text(given, "unless"),
        namespace=_text(given, "namespace"),
        in_namespace=_text(given, "inNamespace"),
        everywhere=everywhere,
        kind_at=_text(given, "kindAt"),
        kind_default=_text(given, "kindDefault"),
        key=_text(given, "key"),
        keys=_texts(given, "keys"),
        usage=_text(given, "as"),
        change=Effect(change),
        project=_text(given, "project"),
    )


_FIELDS: Final = frozenset(
    {
        *("group", "kind", "names", "path", "name", "when", "unless", "namespace"),
        *(
            "inNamespace",
            "everywhere",
            "kindAt",
            "kindDefault",
            "key",
            "keys",
            "as",
            "change",
            "project",
        ),
    }
)


def _text(given: Mapping[str, Any], field: str) -> str:
    value = given.get(field, "")
    if not isinstance(value, str):
        raise ConfigurationError(f"{field}: must be text")
    return value


def _texts(given: Mapping[str, Any], field: str) -> tuple[str, ...]:
    value = given.get(field, ())
    every = (value,) if isinstance(value, str) else value
    if not isinstance(every, Sequence) or not all(isinstance(e, str) and e for e in every):
        raise ConfigurationError(f"{field}: must be text, or a list of texts")
    return tuple(every)


@cache
def _indexed(table: str) -> Mapping[tuple[str, str], tuple[Row, ...]]:
    index: dict[tuple[str, str], tuple[Row, ...]] = {}
    for row in getattr(built_in(), table):
        for kind in row.kinds:
            index[row.group, kind] = (*index.get((row.group, kind), ()), row)
    return index


def _rows_for(document: Mapping[str, Any], table: str) -> tuple[Row, ...]:
    index, identity = _indexed(table), _identity(document)
    return (*index.get(identity, ()), *index.get(_ANYBODYS, ()))


def _identity(document: Mapping[str, Any]) -> tuple[str, str]:
    return str(document.get("apiVersion") or "").rpartition("/")[0], str(document.get("kind"))


@final
class _Looking:
    """One object that is looked at; what stands at a place is told once, by the first row."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._identity = _identity(document)
        given = document.get("metadata")
        self._metadata = given if isinstance(given, Mapping) else {}
        self._members = member_names(document)
        self._seen: set[tuple[str, str, str]] = set()

    def by(self, rows: Iterable[Row]) -> Iterator[NamedObject]:
        for row in rows:
            if not _is_about(row, *self._identity) or not self._holds(row):
                continue
            for found in self._by_row(row):
                key = (found.kind, found.name, found.path)
                if key not in self._seen:
                    self._seen.add(key)
                    yield found

    def leave_out(self, known: Iterable[NamedObject]) -> None:
        self._seen.update((found.kind, found.name, found.path) for found in known)

    def _holds(self, row: Row) -> bool:
        if row.unless and any(self._at(row.unless)):
            return False
        return not row.when or any(any(self._at(path)) for path in row.when)

    def _by_row(self, row: Row) -> Iterator[NamedObject]:
        if row.name:
            name = row.name.replace("{name}", str(self._metadata.get("name") or ""))
            yield _object(row, name, self._metadata, {}, "metadata.name")
        for path in row.paths:
            for place, name, around in self._at(path):
                if not row.kind_at or (around.get(row.kind_at) or row.kind_default) == row.names:
                    yield _object(row, name, self._metadata, around, place)

    def _at(self, path: str) -> Iterator[Found]:
        if may_lead_somewhere(path, self._members):
            yield from texts_at(self._document, path)


def _is_about(row: Row, group: str, kind: str) -> bool:
    if row.group == "*":
        return not belongs_to_kubernetes(group)
    return row.group == group and kind in row.kinds


def _object(
    row: Row, name: str, metadata: Mapping[str, Any], around: Mapping[str, Any], place: str
) -> NamedObject:
    key = around.get(row.key) if row.key else None
    elsewhere = around.get(row.namespace) if row.namespace else None
    namespace = str(elsewhere or row.in_namespace or metadata.get("namespace") or "")
    return NamedObject(
        kind=row.names,
        namespace="" if row.everywhere else namespace,
        name=name,
        path=place,
        keys=(str(key),) if key else row.keys or None,
        effect=row.change,
        usage=row.usage,
    )
