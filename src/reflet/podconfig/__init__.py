"""What one pod gets: gathered, resolved again whenever the result changes, and its files on disk.

- ``gather``, ``gather_files``: what a pod's configuration is made from, and who may use an object,
  asked once of a server or of manifests
- ``gather_subjects``: what lint looks at
- ``pod_configuration``: a registered pod's environments and volumes, now and as they change
- ``resolved_pod``: one such result, and how two of them differ
- ``pod_wakeups``: which pods have to look again because something of theirs has changed
- ``last_known_objects``: reading a pod's objects, which stay known while the server is away
- ``service_account_tokens``: tokens that are renewed in time
- ``trust_bundle_watch``: ClusterTrustBundles, watched once a pod wants them
- ``mounted_folders``: environment files that containers wrote, read without leaving the volume
- ``volume_delivery``: the volumes of a result as files
"""
