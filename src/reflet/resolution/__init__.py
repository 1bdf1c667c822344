"""What a container gets: arithmetic on a pod and the objects it names, with no I/O at all.

- ``pod_inputs``: everything that a pod's configuration is made from, as one value
- ``references``: which ConfigMaps and Secrets a pod names, where, and which keys; and whether its
  configuration shows anything of its node
- ``environment``: the variables of a container; as data in ``variables``.  It is made of
  ``variable_sources`` (``valueFrom``), ``expansion`` (``$(NAME)``), ``service_variables`` and
  ``env_files``
- ``volume_contents``: the files of a volume; as data in ``file_contents``.  It is made of
  ``keyed_contents`` (ConfigMap and Secret), ``downward_contents`` and ``projected_contents`` with
  ``trust_bundles``
- ``pod_fields``, ``resource_fields``: what variables and files show of the pod itself
- ``sub_paths``: what mounts ask of a volume
- ``templates``: the pod that a workload makes
- ``objects``, ``wanted_objects``: how callers hand over ConfigMaps and Secrets, whatever they got
  them from, and what can be wrong with one that is asked for
- ``problems``, ``places``, ``origins``: what is wrong, where in the pod, and what a value came from

Results are those of the kubelet of Kubernetes 1.36, its error texts included.  Where the kubelet
stops at the first error, these functions go on and report all of them; no problem, error or
representation shows a Secret's value.
"""
