"""Mirroring: keep something in memory equal to a collection on the server, and tell who follows.

- ``mirror``: all of it, as a program first meets it
- ``options``: the options of mirrors, informers and reflectors, typed
- ``shared_informer``: one watch and one store for many handlers (SharedIndexInformer)
- ``informer_set``: informers that live together (SharedInformerFactory)
- ``updater``: a reflector's deltas become the store's new state, and changes to tell
- ``mutation_cache``: reading one's own writes (MutationCache)
- ``reflector/``: list, watch, and start over (Reflector)
- ``handlers/``: who is told, at whose pace (sharedProcessor, processorListener)
- ``queues/``: queues between a reflector and a store (DeltaFIFO, RealFIFO)

An event goes ``reflector.loop`` → ``reflector.delivery`` → ``shared_informer.apply`` → ``updater``
→ the store → ``handlers.handler_set`` → ``handlers.registration`` → the handler.  Nothing here
knows HTTP, JSON or any client.
"""
