"""Probes and lifecycle hooks of containers.

- ``probe_spec``: what a pod says about them
- ``prober``: when the probes of a pod are run
- ``probe_results``: what their outcomes add up to, in pure code
- ``lifecycle_hooks``: running postStart and preStop
- ``handlers``: running one handler: exec, httpGet, tcpSocket, grpc
- ``http_probes``: one GET as the kubelet's client makes it
- ``grpc_health``: the question of a gRPC probe
"""
