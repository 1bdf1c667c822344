"""``reflet run``: a local process with the environment and files of a pod's container, live.

- ``running``: one run, set up and taken down
- ``supervisor``: the life of the process
- ``run_options``: what a run is asked for
- ``configuration_sources``: who gives configurations: a server, or files that are edited meanwhile
- ``container_configuration``: what one container gets, whether the kubelet would start it, and the
  command and environment of the process
- ``configuration_changes``: what is new, in words without values, and what to do about it
- ``service_forwards``, ``service_forward``, ``loopback_ports``: Services at local ports
- ``forwarded_environment``, ``service_mentions``, ``service_backends``: which values name Services,
  what takes their place, and which pods stand behind it
- ``mount_tree``, ``private_root``: the files, and where they are
- ``isolation``: a process that dies with us and, in a mount namespace of its own, sees the real
  mount paths
- ``death_watch``: the same without the kernel's help, where the kernel has none
- ``terminal``: the terminal, and the signals that a person or an init system sends
"""
