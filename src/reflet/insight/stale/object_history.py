"""When the keys of a ConfigMap or Secret got the values that they have, as far as anybody can say.

Two witnesses.  ``managedFields`` say for each manager which keys it owns and when it last changed
any of them: the value of a key is as old as that, or older.  A watch of ours says more: which key
changed, and when.  A history holds keys, names and times, and never a value: what tells values
apart is a digest, salted so that nobody can guess at it.

An update that only takes keys away leaves no time in ``managedFields``: only a watch sees it.

Upstream: apimachinery/pkg/util/managedfields/internal/managedfieldsupdater.go
"""

import hmac
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec import structs

from reflet.api.frozen import EMPTY, Frozen
from reflet.api.json_reader import FAILURES, refuse
from reflet.api.meta import LAST_APPLIED, Time
from reflet.api.unstructured import AnyObject
from reflet.resolution.objects import ConfigKind

SECOND: Final = timedelta(seconds=1)
"""What times of the API are cut to."""
PROMPT: Final = timedelta(seconds=5)
"""In which a watch that works tells of a change, clocks that differ a little included."""
MOST_CHANGES: Final = 1000
"""That are remembered of one object."""


class FieldWrite(Frozen, frozen=True, kw_only=True):
    """What a manager owns of an object: keys that it wrote, the last of them at a time.

    With ``metadata`` it owns labels or annotations too, and may have written those.
    """

    manager: str
    at: Time
    keys: tuple[str, ...] = ()
    string_keys: tuple[str, ...] = ()
    metadata: bool = False


class KeyChange(Frozen, frozen=True, kw_only=True):
    """A change that a watch saw: by whom if that is known, and the digests of the values.

    It was ``since`` one moment and until another, ``at``: mostly within a second.
    ``None`` stands for a key that is not there.
    """

    at: Time
    since: Time
    key: str
    before: str | None = None
    after: str | None = None
    by: str = ""


class ObjectHistory(Frozen, frozen=True, kw_only=True):
    """What is known of the past of an object, and which keys it has now.

    ``writes`` are those of the first time that it was seen, ``changes`` what a watch has seen
    ``since``, oldest first.  One that does not ``exist`` was deleted while it was watched.
    """

    kind: ConfigKind
    namespace: str
    name: str
    exists: bool = True
    created: Time | None = None
    immutable: bool = False
    keys: tuple[str, ...] = ()
    binary_keys: tuple[str, ...] = ()
    writes: tuple[FieldWrite, ...] = ()
    since: Time | None = None
    changes: tuple[KeyChange, ...] = ()

    def has(self, key: str) -> bool:
        """Whether the object has the key now."""
        return key in self.keys or key in self.binary_keys

    def last_write(self, key: str) -> FieldWrite | None:
        """Return the write since which, at the latest, a key had the value of the first sight.

        Several managers own a key when they agree on its value: each has owned it since the value
        changed, so that the oldest of them says most.  ``stringData`` is owned beside ``data``:
        which of them wrote last is not known.  ``None``: nobody says when.
        """
        owners = sorted((each for each in self.writes if key in each.keys), key=_moment)
        texts = sorted((each for each in self.writes if key in each.string_keys), key=_moment)
        return max((*owners[:1], *texts[-1:]), key=_moment, default=None)

    def changes_of(self, key: str) -> tuple[KeyChange, ...]:
        """Return what a watch has seen of one key."""
        return tuple(change for change in self.changes if change.key == key)

    @property
    def lost_keys(self) -> tuple[str, ...]:
        """The keys that a watch saw disappear, and that are not there now."""
        return tuple(dict.fromkeys(each.key for each in self.changes if not self.has(each.key)))


def _moment(write: FieldWrite) -> datetime:
    return write.at


# Reading


class _Fields(msgspec.Struct, frozen=True, gc=False):
    data: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict, name="f:data")
    binary: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict, name="f:binaryData")
    strings: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict, name="f:stringData")
    metadata: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict, name="f:metadata")


class _Entry(Frozen, frozen=True, kw_only=True):
    manager: str = ""
    time: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    fields: _Fields = msgspec.field(default_factory=_Fields, name="fieldsV1")


class _Metadata(Frozen, frozen=True, kw_only=True):
    managed_fields: tuple[_Entry, ...] = ()


class _Stored(Frozen, frozen=True, kw_only=True):
    metadata: _Metadata = _Metadata()
    data: dict[str, msgspec.Raw] | None = None
    binary_data: dict[str, msgspec.Raw] | None = None
    immutable: bool | None = None


_READER: Final = msgspec.json.Decoder(_Stored)


def history_of(item: AnyObject, *, since: datetime | None = None) -> ObjectHistory:
    """Read what a ConfigMap or Secret says of its own past; *since* is when a watch first saw it.

    No value is kept.  Raises DecodeError for what is neither.
    """
    stored = _stored(item)
    return ObjectHistory(
        kind=cast("ConfigKind", item.kind),
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        created=item.metadata.creation_timestamp,
        immutable=bool(stored.immutable),
        keys=tuple(sorted(stored.data or EMPTY)),
        binary_keys=tuple(sorted(stored.binary_data or EMPTY)),
        writes=tuple(_writes(stored)),
        since=since,
    )


def observed(
    history: ObjectHistory,
    old: AnyObject | None,
    new: AnyObject | None,
    *,
    at: datetime,
    salt: bytes,
    late: bool = False,
) -> ObjectHistory:
    """Return the history after a watch has seen an object become another, appear or disappear.

    *history* is that of before; of an object that was not there when the watch began it is
    ``never_seen``.  *salt* is the same for all changes of an object, and chosen at random.  *late*
    says that the watch was interrupted, so that the change may have been long ago.
    """
    before = {} if old is None else _digests(_stored(old), salt)
    stored = _Stored() if new is None else _stored(new)
    after, writes = _digests(stored, salt), tuple(_writes(stored))
    kept = _forgetful(history)
    last_seen = max((each.at for each in history.changes), default=history.since)
    changes = []
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            by, since, until = _when(key, writes, at)
            if last_seen is not None and (late or abs(at - until) > PROMPT):
                since = min(since, last_seen)
            changes.append(
                KeyChange(
                    at=until,
                    since=since,
                    key=key,
                    before=before.get(key),
                    after=after.get(key),
                    by=by,
                )
            )
    return structs.replace(
        kept,
        exists=new is not None,
        created=history.created if new is None else new.metadata.creation_timestamp,
        immutable=bool(stored.immutable),
        keys=tuple(sorted(stored.data or EMPTY)),
        binary_keys=tuple(sorted(stored.binary_data or EMPTY)),
        changes=(*kept.changes, *changes),
    )


def _when(key: str, writes: Iterable[FieldWrite], seen: datetime) -> tuple[str, datetime, datetime]:
    """Return who wrote a key, and between which moments.

    By the server's clock where somebody owns the key, since ours may be wrong; nobody owns one
    that is gone.
    """
    owners = [each for each in writes if key in (*each.keys, *each.string_keys)]
    if not owners:
        return "", seen - PROMPT, seen
    last = max(owners, key=_moment)
    return last.manager, last.at, last.at + SECOND


def _forgetful(history: ObjectHistory) -> ObjectHistory:
    """Return the history without its older half once it is long: that of before is not known."""
    if len(history.changes) < MOST_CHANGES:
        return history
    forgotten = len(history.changes) // 2
    since = history.changes[forgotten - 1].at
    return structs.replace(history, since=since, writes=(), changes=history.changes[forgotten:])


def without_values(item: AnyObject, salt: bytes) -> AnyObject:
    """Return the object with digests in the place of values: enough for ``observed``.

    What kubectl keeps of a manifest in an annotation goes too.
    """
    content = item.to_dict()
    for bag in ("data", "binaryData"):
        values = content.get(bag)
        if isinstance(values, dict):
            content[bag] = {key: _digest(str(value), salt) for key, value in values.items()}
    content.get("metadata", {}).get("annotations", {}).pop(LAST_APPLIED, None)
    return AnyObject.from_dict(content)


def never_seen(kind: ConfigKind, namespace: str, name: str, *, since: datetime) -> ObjectHistory:
    """Return the history of an object that a watch, begun at *since*, has not found."""
    return ObjectHistory(kind=kind, namespace=namespace, name=name, exists=False, since=since)


def _stored(item: AnyObject) -> _Stored:
    try:
        return _READER.decode(item.to_json())
    except FAILURES as error:
        refuse(error, repr(item))


def _digests(stored: _Stored, salt: bytes) -> dict[str, str]:
    every: dict[str, Any] = {**(stored.data or EMPTY), **(stored.binary_data or EMPTY)}
    return {key: _digest(bytes(value).decode(), salt) for key, value in every.items()}


def _digest(text: str, salt: bytes) -> str:
    return hmac.digest(salt, text.encode(errors="surrogatepass"), "sha256").hex()


def _writes(stored: _Stored) -> Iterator[FieldWrite]:
    for entry in stored.metadata.managed_fields:
        keys = (*_keys(entry.fields.data), *_keys(entry.fields.binary))
        string_keys = tuple(_keys(entry.fields.strings))
        if entry.time is not None and (keys or string_keys):
            yield FieldWrite(
                manager=entry.manager,
                at=entry.time,
                keys=keys,
                string_keys=string_keys,
                metadata=bool(entry.fields.metadata),
            )


def _keys(fields: Iterable[str]) -> Iterator[str]:
    return (name[2:] for name in fields if name.startswith("f:"))
