"""The flags and arguments that commands share.

- ``arguments``: ``TYPE/NAME`` and names of files
- ``connection_options``: kubectl's flags that say which server, and as whom
- ``object_options``: which objects of a server, and in which form
- ``choice_options``: which objects, from a server or from files, as one choice
- ``file_options``: which files, folders, kustomizations and charts
- ``pod_options``: which pod, from a server or from files
- ``why_options``, ``lint_options``, ``restart_options``: the flags of ``why`` and ``lint``, and of
  ``stale --restart``
- ``project_options``, ``project_file``: what ``.reflet.yaml`` says for a whole repository
- ``missing_targets``: what is said of a pod that a server does not have
- ``remark_options``: how much is said before the answer
- ``tab_words``: words that Tab offers and that only a server, a kubeconfig or files know
"""
