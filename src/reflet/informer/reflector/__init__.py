"""Keeps a sink equal to a remote collection: list, watch, and start over.

- ``reflector``: the options, ``run``, and the state that may be read
- ``loop``: the loop itself, WatchList or list, then watch (ListAndWatch)
- ``endings``: the states, how lists and watches end and what comes next, as tables.  Pure
- ``versions``: which resourceVersion is known, and which to ask for.  Pure
- ``retries``: when to ask again: back-off, short watches, 410, internal errors
- ``source``: what a reflector needs from a client (ListerWatcher)
- ``requests``: the lists and watches that it sends, and a watch while it is open
- ``watch_list``: the whole collection as the beginning of a watch (WatchList)
- ``delivery``: what came goes to the sink, then the version moves
- ``health``: whether the server serves us, and when it last gave a sign of life
- ``reflector_metrics``: the numbers that it reports
"""
