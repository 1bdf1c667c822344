"""Memory: objects by key, found by index, read from any thread.

- ``store``: the objects and the version they show (client-go's Indexer)
- ``indexes``: from a value to the objects that have it (Indexers, IndexFunc)
- ``lister``: reading by namespace, name and selector, and nothing but reading (Lister)
- ``keys``: what an object is called, tombstones included (MetaNamespaceKeyFunc)
- ``deltas``: what can happen to a collection, and who takes it; operations of a transaction
- ``transforms``: changing objects on their way in (TransformFunc), and what could not be
- ``sharing``: objects that say the same share memory

Nothing here knows where objects come from, nor who is told about changes.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.store.deltas import (
        ChangeType, Changed, Delta, Put, Remove, Replaced, Resynced, Sink, TransactionError,
    )
    from reflet.store.indexes import IndexFunction, NAMESPACE
    from reflet.store.keys import (
        ExplicitKey, KeyFailure, KeyFormatError, Tombstone, key_of, key_of_deleted, namespace_of,
        split_key,
    )
    from reflet.store.lister import Lister, NamespaceLister
    from reflet.store.store import IndexConflict, IndexMissing, Store
    from reflet.store.transforms import Transform, drop_managed_fields
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.store.deltas": (
            "ChangeType Changed Delta Put Remove Replaced Resynced Sink TransactionError"
        ),
        "reflet.store.indexes": "IndexFunction NAMESPACE",
        "reflet.store.keys": (
            "ExplicitKey KeyFailure KeyFormatError Tombstone key_of key_of_deleted namespace_of "
            "split_key"
        ),
        "reflet.store.lister": "Lister NamespaceLister",
        "reflet.store.store": "IndexConflict IndexMissing Store",
        "reflet.store.transforms": "Transform drop_managed_fields",
    })

__all__ = [
    "NAMESPACE", "ChangeType", "Changed", "Delta", "ExplicitKey", "IndexConflict", "IndexFunction",
    "IndexMissing", "KeyFailure", "KeyFormatError", "Lister", "NamespaceLister", "Put", "Remove",
    "Replaced", "Resynced", "Sink", "Store", "Tombstone", "TransactionError", "Transform",
    "drop_managed_fields", "key_of", "key_of_deleted", "namespace_of", "split_key",
]
