"""The pod that a workload makes from its template.

- ``templates``: of Kubernetes' own workloads
- ``custom_templates``: of objects of other kinds
- ``service_account_volume``: what admission adds to a pod, and no template has
"""
