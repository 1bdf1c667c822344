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
