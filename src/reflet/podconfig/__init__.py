"""What one pod gets, resolved again whenever the result changes, and its files on disk.

What programs use:

- ``pod_configuration``: a registered pod's environments and volumes, now and as they change
- ``resolved_pod``: one such result
- ``difference``: what is new between two results, by name and without values
- ``volume_delivery``: the volumes of a result as files
- ``service_account_tokens``: tokens that are renewed in time
- ``trust_bundles``: ClusterTrustBundles, watched once a pod wants them
- ``object_news``: one ear for many pods

How it is done:

- ``last_known_objects``: what could be read once stays known while the server is away
- ``mounted_folders``: environment files that containers wrote, read without leaving the volume
- ``frozen_mounts``: which containers do not see a changed volume before they start again

Must not know processes, nor what is done about a change.
"""
