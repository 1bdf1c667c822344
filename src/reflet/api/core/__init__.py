"""The kinds of the core group, and of the groups next to it, as frozen structs.

- ``pods``: Pod, PodSpec, PodStatus, container states, the pod template
- ``containers``: containers, their environment, mounts, probes
- ``volumes``: what the files of a pod come from
- ``config``: ConfigMap, Secret
- ``nodes``: Node; ``services``: Service
- ``workloads``: Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob
- ``small_kinds``: Namespace, ServiceAccount, Event, Lease
"""
