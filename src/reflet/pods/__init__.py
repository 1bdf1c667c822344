"""Where pods come from, and the one place that registers and unregisters them.

- ``pod_sources``: the pods of the API server, by node or selector; the feed of a source
- ``folder_pods``: pods of manifests in a folder, static pods among them
- ``pod_manager``: which pods there are, and which static pod belongs to which mirror pod
- ``mirror_pods``: showing a static pod on the API server, and taking that back
- ``registrar``: registering pods with the managers, and unregistering terminated ones
"""
