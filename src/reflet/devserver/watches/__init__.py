"""How changes reach those who watch: what is asked for, what is seen, and who is told.

- ``watch_request``: what a watch asks for
- ``watch_events``: what is seen of a change, put into bytes once
- ``watch_feed``: one watch from its beginning to its end
- ``watchers``: all of them, and which change concerns whom
- ``watch_stream``: one watch on its connection, with the faults that hit it
"""
