"""The node agent: the kubelet's part, for processes and for real containers.

- ``agent``: everything put together, which only this module knows
- ``options``: its settings
- ``pods``: one worker for each pod: admission, verdicts, starts, kills, volumes, reloads
- ``probes``: probes and lifecycle hooks
- ``status``: statuses and events on their way to the API server
- ``identity``: the Node: registration, status, lease
- ``shim``: the process that outlives the agent and has the containers as its children
- ``container_runtime``: what the agent asks of any runtime
- ``process_runtime``, ``process_launch``, ``open_process``: containers that are processes
- ``cri``: real containers, by a container runtime that speaks CRI
- ``opened_runtime``, ``pod_folders``: what all runtimes are opened with, and the folders of pods
- ``server``: the agent's ports: health, metrics, pods, logs
- ``node_shutdown``: what is done about pods when the agent is told to stop
- ``root_lock``: the folder that an agent has alone
- ``descriptor_budget``: how many connections, logs and pods fit
"""
