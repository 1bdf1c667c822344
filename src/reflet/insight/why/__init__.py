"""Why something does not run: reasons as types, seen at objects, and equal ones as one.

- ``diagnosis``: every workload and pod in hand, what is wrong with it, worst first
- ``cluster_state``: what is in hand, and who owns whom
- ``reasons``: what a reason is, and where it was seen
- ``signals``: what the cluster complains about, in its own words
- ``configuration_reasons``: ConfigMaps, Secrets, variables and files that keep a pod from starting
- ``creation_reasons``: why no pod is made: quotas, admission, what does not exist
- ``placement_reasons``, ``claim_reasons``: why no node takes a pod
- ``container_reasons``: images, crashes and probes
- ``life_reasons``: nodes, gates, volumes and the end of a pod
- ``pod_reasons``: everything about one pod
- ``pod_makers``: why what makes pods has not all of them
- ``workload_stands``, ``rollout_stands``, ``job_stands``: how a workload stands meanwhile
- ``needs``: what else has to be looked at, so that nobody asks for more

Pure: whoever gathers is ``podconfig.gather_why``; how it is shown is ``cli.output.why_output``.  No
reason holds a Secret's value.
"""
