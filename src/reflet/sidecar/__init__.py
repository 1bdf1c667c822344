"""``reflet sidecar``: labelled ConfigMaps and Secrets as files, and a reload.

A drop-in for kiwigrid/k8s-sidecar that misses nothing.

What decides, without doing anything:

- ``sidecar_variables``, ``variable_readers``, ``sidecar_settings``: what a sidecar is asked for
- ``selected_objects``: which objects it follows
- ``targets``: which files an object wants
- ``file_owners``: who owns which file, the heart of it
- ``object_inbox``: the newest state of each object, each version once
- ``owed_reloads``: which reloads are owed, and when
- ``sidecar_health``: whether it is ready and alive

What acts:

- ``sidecar``: puts it all together; ``running_sidecar``: with a connection and a port
- ``object_streams``: following objects: watched, polled, read once
- ``files``: the ledger and the files on disk
- ``downloads``: what ``.url`` keys name; ``web_login``: user and password
- ``reload``, ``scripts``: telling the application
- ``sidecar_page``: the sidecar's page of itself
- ``log_lines``: the form of log lines
"""
