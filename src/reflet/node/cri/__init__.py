"""Pods in real containers: what a kubelet tells a container runtime, and does around it.

- ``open_cri``: the runtime opened for the agent, and its chores
- ``cri_container_runtime``: sandboxes and containers, by CRI
- ``agents_pods``: those of this agent among all of a runtime
- ``cri_launch``: a container started: its image, its configuration, its files
- ``sandbox_configs``, ``container_configs``, ``pod_rights``, ``limits``, ``pod_dns``,
  ``etc_hosts``: from a pod to what CRI takes, pure
- ``image_names``, ``keyring``, ``image_pulls``: which image, with which credentials, when
- ``runtime_classes``: the handler that a pod asks for
- ``runtime_labels``: by what pods are found again in a runtime
- ``sub_path_mounts``: parts of volumes, held fast before a runtime mounts them
- ``runtime_health``: whether the runtime and its network are ready
- ``garbage``, ``log_rotation``: what nobody needs any more
- ``stream_proxy``: exec, attach and port-forward by the runtime's streaming server

Upstream: pkg/kubelet/kuberuntime
"""
