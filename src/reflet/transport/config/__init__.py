"""Where the settings of a connection come from.

- ``settings``: ``ConnectionSettings``, the one frozen value that all of it becomes
- ``kubeconfig``: files, flags and environment to settings, as kubectl decides
- ``kubeconfig_loader``: what is written in the files, and how several are merged
- ``user_credentials``: what a user of a kubeconfig becomes
- ``in_cluster``: the service account of the pod around this program
- ``proxies``: HTTPS_PROXY, HTTP_PROXY and NO_PROXY
"""
