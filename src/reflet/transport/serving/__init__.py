"""What programs answer about themselves over HTTP: health, metrics, logs.

- ``http_answers``: one request and one answer a connection
- ``connections``: accepting, whatever goes wrong with it, and who may stay when there is no room
- ``health_checks``: ``/livez`` and ``/readyz``, a line for each check
"""
