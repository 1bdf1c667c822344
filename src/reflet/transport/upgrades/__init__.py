"""Connections that stop speaking HTTP: WebSocket, SPDY/3.1, and the channels on them.

Both sides use these: the client that runs commands and forwards ports, and the node agent that
answers.  The frames are pure, bytes in and frames out; the rest moves them.

- ``websocket_frames``: RFC 6455; ``websocket``: one such connection
- ``spdy_frames``: SPDY/3.1; ``spdy``: one such connection and its streams
- ``channels``: ``vN.channel.k8s.io``: stdin, stdout, stderr, status and size over one WebSocket
- ``inbox``: what has arrived and is not read yet, bounded
- ``byte_streams``: a line of bytes both ways; ``dialing``: from a request to one
"""
