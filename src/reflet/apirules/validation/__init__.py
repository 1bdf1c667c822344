"""The rules that objects must keep, with the real server's words for those that do not.

- ``by_kind``: which rules apply to which kind, in order; the refusal with all complaints
- ``field_errors``: how a broken rule is told (``field.Error``)
- ``names``: names, label keys and values, and other small texts
- ``metadata``: names, labels, owners and finalizers of every object; label selectors
- ``pods``, ``containers``, ``environment``, ``volumes``: pods, and the templates of pods
- ``podspecs``, ``runtime_classes``: where pods run, as whom, and what their containers mount
- ``update_order``: the steps of an update's check, in the order of the real server
- ``workloads``, ``batch``, ``services``: what makes pods, and what leads to them
- ``disruption_budgets``, ``autoscalers``: the kinds they name
- ``networking``: ingresses, network policies, the addresses and networks in them
- ``storage``: persistent volumes, claims on them, storage classes
- ``devices``: what there is, who claims it, and what was given to whom
- ``cluster``: webhooks, admission policies, API services, certificate requests, flow control
- ``quotas``, ``resource_names``: quotas, ranges of limits, priority classes; what they count
- ``other_kinds``: ConfigMaps, Secrets, nodes, events, leases, roles
- ``custom``: CustomResourceDefinitions, and objects of their kinds
- ``pattern_costs``: what Python's engine can do with a pattern of a schema
"""
