"""The contestants of the mirror benchmark that are not written in Go, one module each.

Each runs as a child (see ``mirror_work``), the peers in environments of their own, where nothing
of Reflet is installed.
"""
