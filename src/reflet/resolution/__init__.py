"""What a container gets: arithmetic on a pod and the objects it names, with no I/O at all.

The parts, one noun a file:

- ``references``: which ConfigMaps and Secrets a pod names, where, and which keys.
- ``environment``: the variables of a container, each with where it came from; as data in
  ``variables``.  It is made of ``variable_sources`` (``valueFrom``), ``expansion``
  (``$(NAME)``), ``service_variables``, ``env_files``, ``variable_names`` and
  ``environment_size``.
- ``volume_contents``: the files of a volume; as data in ``file_contents``.  It is made of
  ``keyed_contents`` (ConfigMap and Secret), ``downward_contents``, ``projected_contents`` and
  ``pod_users`` (who owns the files).
- ``pod_fields`` and ``resource_fields``: what variables and files show of the pod itself, with
  ``addresses``, ``qualified_names`` and ``quoted_text``; ``node_needs`` tells whether that takes
  the pod's node.
- ``nested_mount_points`` and ``sub_paths``: what mounts ask of a volume, with ``clean_paths``.
- ``objects`` and ``wanted_objects``: how callers hand over ConfigMaps and Secrets, whatever
  they got them from, and what can be wrong with one that is asked for.
- ``problems``, ``places`` and ``origins``: what is wrong, where in the pod, and what a value
  came from.

Results are those of the kubelet of Kubernetes 1.36, its error texts included.  Where the
kubelet stops at the first error, these functions go on and report all of them; no problem,
error or representation shows a Secret's value.
"""
