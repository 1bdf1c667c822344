"""What outlives the agent: the process that has the containers as its children.

In the shim's process:

- ``service``: its socket, who is heard, and when it ends
- ``shim``: containers started, looked after and ended
- ``commands``: commands in containers, on streams that the agent made
- ``strays``: processes that left their container
- ``container_streams``: what a container reads and writes
- ``log_pumps``, ``log_files``: from a container's pipes into files of the CRI's form, turned over

On both sides:

- ``protocol``: requests, answers and news
- ``container_records``: what is on disk of each life of a container
- ``shim_socket``: where the two meet
- ``shim_client``: the agent's line to its shim, which it finds or starts
"""
