"""The flags and arguments that commands share.

- ``arguments``: ``TYPE/NAME`` and names of files
- ``connection_options``: kubectl's flags that say which server, and as whom
- ``pod_options``: which pod, from a server or from files
- ``project_options``, ``project_file``: what ``.reflet.yaml`` says for a whole repository
"""
