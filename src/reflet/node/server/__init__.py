"""Where the agent answers, and whom: the kubelet's server.

- ``ports``: the plain port and the one with TLS, and what is answered at which
- ``pages``: ``/livez``, ``/readyz``, ``/metrics``, ``/pods``, and where each is
- ``node_page``: the agent's page of itself, ``--ui``
- ``pod_services``: what is answered about one pod at a time:
  ``log_service``, ``log_reading``: ``/containerLogs``, as ``kubectl logs`` asks for it;
  ``exec_service``, ``command_streams``: ``/exec``; ``attach_service``: ``/attach``;
  ``stream_channels``: what these two have in common; ``port_forward_service``: ``/portForward``
- ``upgrading``: WebSocket or SPDY/3.1, as the other side can
- ``review``: who may ask: TokenReview and SubjectAccessReview, and how often strangers may
- ``serving_certificates``: the TLS files, which may be replaced at any time

How requests are taken and answered is ``reflet.transport.serving``.
"""
