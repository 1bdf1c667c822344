"""Who is told what changed, and at whose pace.

- ``changes``: what a handler is told, what a handler is, and ``filtered``
- ``handler_set``: all handlers of one informer (sharedProcessor)
- ``resync``: whose turn it is to be told everything again
- ``registration``: one handler and how it is called (processorListener)
- ``handler_queue``: what waits for one handler, bounded
- ``change_stream``: changes to iterate instead of being called
"""
