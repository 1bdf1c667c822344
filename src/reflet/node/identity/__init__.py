"""The Node that this agent is on the API server.

- ``node_registration``: when the Node and its status are written
- ``node_status``: what is written, in pure code
- ``node_lease``: the sign of life
- ``machine``: what this machine is and has left, and its addresses
"""
