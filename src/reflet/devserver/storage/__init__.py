"""What etcd and the watch cache are to the real server: objects, revisions and the recent past.

- ``stored``: keys, stored states and changes
- ``collection``: the objects of one resource in order, and its window of recent changes
- ``storage``: all of them with one counter of revisions; waiting for a revision
- ``sqlite_journal``: the same in a SQLite file, safe from ``kill -9``
"""
