"""Doors to other people's libraries: clients that a program has already, and its metrics.

Owns: what it takes to use another Kubernetes client's connection and credentials as our own,
and to report to Prometheus.  Each module knows one library, which it imports when it is used
and which an extra of the same name installs.  Nothing else in Reflet needs any of them.
"""
