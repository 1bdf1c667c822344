"""What each verb does, from a request that is understood to an answer.

- ``dispatch``: which verb a request means, and what is refused before it
- ``reading``: get, list and watch
- ``writing``: create and update, and the steps of every write
- ``admitted_writing``, ``admitting``: where writes and deletes meet admission
- ``patching``: the four forms of patch
- ``deleting``: delete and deletecollection; finalizers, grace, and what goes with a namespace
- ``field_managers``: who manages which field after a write (``managedFields``)
- ``conversion``, ``autoscaler_versions``: between the version asked for and the one that is stored
- ``scales``, ``pod_subresources``, ``reviews``: what only some kinds have
- ``state``: storage, kinds, addresses and watchers together; the status of definitions
- ``loading``: what is there at the start, and objects from files

Owner references are stored, and nobody follows them: there is no garbage collector.
"""
