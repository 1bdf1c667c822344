"""Memory: objects by key, found by index, read from any thread.

- ``deltas``: what can happen to a collection, and who takes it
- ``keys``: what an object is called, tombstones included
- ``indexes``: from a value to the objects that have it
- ``store``: the objects
- ``sharing``: objects that say the same share memory
- ``transactions``: several changes at once, and what became of each
- ``transforming``: changing objects on their way in
- ``transforms``: what to leave out of objects
- ``left_out``: objects that a function of the program could not digest
- ``views``: reading by namespace, name and selector, and nothing but reading

Must not know where objects come from, nor who is told about changes.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.store.deltas import Changed, ChangeType, Delta, Replaced, Resynced, Sink
    from reflet.store.indexes import NAMESPACE, IndexFunction
    from reflet.store.keys import (
        ExplicitKey,
        KeyFailure,
        KeyFormatError,
        Tombstone,
        key_of,
        key_of_deleted,
        namespace_of,
        split_key,
    )
    from reflet.store.store import IndexConflict, IndexMissing, Store
    from reflet.store.transactions import Put, Remove, TransactionError
    from reflet.store.transforms import Transform, drop_managed_fields
    from reflet.store.views import Lister, NamespaceLister
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.store.deltas": "ChangeType Changed Delta Replaced Resynced Sink",
            "reflet.store.indexes": "IndexFunction NAMESPACE",
            "reflet.store.keys": (
                "ExplicitKey KeyFailure KeyFormatError Tombstone key_of key_of_deleted "
                "namespace_of split_key"
            ),
            "reflet.store.store": "IndexConflict IndexMissing Store",
            "reflet.store.transactions": "Put Remove TransactionError",
            "reflet.store.transforms": "Transform drop_managed_fields",
            "reflet.store.views": "Lister NamespaceLister",
        },
    )

__all__ = [
    "NAMESPACE", "ChangeType", "Changed", "Delta", "ExplicitKey", "IndexConflict", "IndexFunction",
    "IndexMissing", "KeyFailure", "KeyFormatError", "Lister", "NamespaceLister", "Put", "Remove",
    "Replaced", "Resynced", "Sink", "Store", "Tombstone", "TransactionError", "Transform",
    "drop_managed_fields", "key_of", "key_of_deleted", "namespace_of", "split_key",
]  # fmt: skip
