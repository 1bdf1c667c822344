"""``reflet run``: a local process with the environment and files of a pod's container, live.

- ``container_configuration``: what one container gets, and whether the kubelet would start it
- ``child_environment``, ``container_command``: what the process is started with
- ``configuration_changes``: what is new, in words without values, and what to do about it
- ``mount_plan``, ``mount_tree``, ``private_root``: the files, and where they are
- ``isolation``, ``isolated_start``: a process that dies with us and, in a mount namespace of its
  own, sees the real mount paths
- ``terminal``, ``forwarded_signals``: what a person or an init system sends
- ``configuration_source``: who gives configurations; ``cluster_configuration`` from a server,
  ``configuration_files`` from manifests that are edited while the process runs
- ``run_options``: what a run is asked for
- ``supervisor``: the life of the process
- ``running``: one run, set up and taken down

Must not know the command line, nor how objects reach us.
"""
