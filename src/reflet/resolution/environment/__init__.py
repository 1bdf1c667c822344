"""The environment of a container.

- ``environment``: the order of the sources, and who wins
- ``variables``: what comes out, as data, and which names variables may have
- ``variable_sources``: what a single ``valueFrom`` gives; ``env_files`` those of a file
- ``expansion``: ``$(NAME)``, in commands, arguments and sub-paths too
- ``service_variables``: where services are

Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables; pkg/kubelet/envvars
"""
