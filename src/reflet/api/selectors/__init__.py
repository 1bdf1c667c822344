"""Which objects a request is about.

- ``labels``: ``app=web,tier in (front,back),!legacy``
- ``fields``: ``metadata.name=web,spec.nodeName!=n1``
"""
