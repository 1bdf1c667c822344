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
