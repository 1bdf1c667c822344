"""How changes reach those who watch: the side of the watch cache that faces the watchers.

- ``event_lines``: what a watch asks for, what it sees of a change, put into bytes once
- ``watch_feed``: one watch from its beginning to its end, with WatchList and bookmarks
- ``watchers``: all of them, and which change concerns whom
- ``watch_connection``: one watch on its connection, with the faults that hit it
"""
