"""What the development server keeps: objects, their revisions and their recent past.

- ``changes``: keys, stored states and changes
- ``collection``: the objects of one resource in order, with their recent past
- ``storage``: the whole state, with one counter of revisions
- ``journal``: the same in a SQLite file, safe from ``kill -9``
- ``freshness``: waits for a revision that is not there yet
"""
