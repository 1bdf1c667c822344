"""What the API server fills in before it stores an object, by the type of each part.

- ``by_type``: the walk over an object, the table of defaulters, and those of small kinds
- ``pods``: a pod's spec, containers, probes and volumes
- ``workloads``: deployments and their kin, jobs, autoscalers
"""
