"""Why something does not run: reasons as types, seen at objects, and equal ones as one.

- ``diagnosis``: every workload and pod in hand, what is wrong with it, worst first
- ``cluster_state``: what is in hand, and who owns whom
- ``reasons``: what a reason is, and where it was seen
- ``signals``: what the cluster complains about, in its own words
- ``configuration_reasons``: ConfigMaps, Secrets, variables and files that keep a pod from starting
- ``creation_reasons``: why no pod is made: quotas, admission, what does not exist
- ``placement_reasons``, ``claim_reasons``: why no node takes a pod
- ``container_reasons``: images, crashes and probes
- ``pod_reasons``: everything about one pod
- ``workload_reasons``: everything about what makes pods
- ``needs``: what else has to be looked at, so that nobody asks for more

Pure: whoever gathers is ``podconfig.gather_why``; how it is shown is ``cli.output.why_output``.  No
reason holds a Secret's value.
"""
