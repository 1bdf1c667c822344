"""The kubelet's managers: the ConfigMaps and Secrets of registered pods, ready to read.

- ``manager``: ConfigMapManager and SecretManager; register pods, read what they refer to
- ``object_changes``: being told when an object that a registered pod uses has changed
- ``registry``: registered pods, and the references that follow from them
- ``strategies``: from the name of a strategy to its store, and the options of managers
- ``object_store``: what a strategy has to answer, and what it asks of a server
- ``direct``: the strategy ``get``, a request each time
- ``ttl``: the strategy ``cache``, a request when what is kept is too old
- ``watched``: the strategies ``watch`` and ``auto``, memory that streams keep fresh
- ``object_entry``: one object of those, and its states

The streams of ``watch`` and ``auto`` are in ``watches``.  Where pods come from, and who registers
them, is ``reflet.pods``; what is computed from the objects is ``reflet.podconfig``.
"""
