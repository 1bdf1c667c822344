"""Ready transforms: what to leave out of objects before they are stored.

Owns: what can be spared without loss to readers.  Must not know stores.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reflet.api.unstructured import AnyObject

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_MANAGED_FIELDS: Final = "managedFields"


def drop_managed_fields(item: AnyObject) -> AnyObject:
    """The object without its managed fields, often a third of its size, and else as it came.

    Typed objects have lost theirs when they were decoded and do not need this.  The object may
    still be written back: a server that gets no managed fields keeps those it has.
    """
    data = item.to_json()
    if _MANAGED_FIELDS.encode() not in data:
        return item
    members = _MEMBERS.decode(data)
    metadata = _MEMBERS.decode(members["metadata"])
    if metadata.pop(_MANAGED_FIELDS, None) is None:
        return item  # the word stands elsewhere
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return AnyObject(msgspec.json.encode(members))
