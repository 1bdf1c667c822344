"""The node agent: the kubelet's part, for processes.

What is decided, in pure code:

- ``security``: what a pod asks for that this agent does not give
- ``run_decisions``: which containers to start and to stop now
- ``pod_conditions``, ``container_statuses``, ``pod_statuses``: what the API server is told
- ``node_object``: the Node, its conditions and its lease
- ``event_correlation``: which events are told again, and which are too many
- ``mount_layout``: where a container finds its volumes
- ``reload_rules``: what a pod wants done when its configuration changes
- ``descriptor_budget``, ``connection_places``, ``peer_buckets``: how many connections, logs and
  pods fit, who may stay connected, and how often strangers may ask

What is done:

- ``shim``, ``shim_service``, ``shim_protocol``, ``shim_client``, ``shim_journal``,
  ``stray_processes``: the process that outlives the agent and has the containers' processes as
  its children
- ``container_records``, ``log_files``, ``log_pumps``, ``log_reading``: what is on disk of a
  container
- ``process_runtime``: pods as a runtime sees them, over the shim
- ``configurations``: what this node's pods get, registered and resolved
- ``pod_volumes``, ``pod_files``: a pod's folders, filled and refreshed
- ``pod_starts``, ``container_starts``, ``pod_endings``: from a resolved container to a process,
  and from a process to its end
- ``pod_reloads``, ``dry_runs``: what a change brings about, and what is done without ``--run``
- ``manifest_defaults``: pods of files with the defaults of the API server
- ``worker_parts``, ``agenda``, ``pod_worker``, ``pod_workers``: one worker for each pod, and who
  wakes it
- ``status_reports``, ``local_statuses``, ``events``: what the API server hears, whatever happens
  to it
- ``registration``, ``heartbeat``, ``machine``, ``node_addresses``: the node itself
- ``binding``: unbound pods that a selector chooses
- ``agent_ports``, ``reader_review``, ``serving_certificates``, ``http_answers``, ``listening``:
  where the agent answers, and whom
- ``agent_pages``, ``health``, ``metric_text``, ``log_service``: what it answers
- ``structured_logs``: log lines for machines
- ``agent_root``, ``agent_ending``: the folder that an agent has alone, and its good-bye
- ``options``, ``assembly``: how it is all put together, which only ``assembly`` knows
"""
