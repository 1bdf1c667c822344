"""What the API server fills in before it stores an object, by the type of each part.

- ``by_type``: the walk over an object, the table of defaulters, and those of small kinds
- ``pods``: a pod's spec, containers, probes and volumes
- ``workloads``: deployments and their kin, jobs, autoscalers
- ``cluster_kinds``: what configures the cluster: webhooks, drivers, flow control, devices
- ``templates``: pod templates in objects whose server does not know them as such
- ``image_references``: the tag that an image names, which decides about pulling it
"""
